/** One sentence about one part of the installation, for the operator. */
export type HealthFinding = {
  /** the part, also a metric label */
  subject: HealthSubject
  isHealthy: boolean
  text: string
  /** ms since 1970; null: unknown, or healthy */
  sinceMs: number | null
  /** what to do; null: nothing */
  todo: string | null
}

export const HEALTH_SUBJECTS = [
  'postgres',
  'nats',
  'clickhouse',
  'clocks',
  'partitions',
  'verdicts',
  'regions',
  'probes',
  'streams',
  'history',
  'deliveries',
  'fan_outs',
  'heartbeats',
  'guarantee',
  'replication',
] as const
export type HealthSubject = (typeof HEALTH_SUBJECTS)[number]

export const reportHealthy = (subject: HealthSubject, text: string): HealthFinding => ({
  ...{ subject, isHealthy: true, text, sinceMs: null, todo: null },
})

export const reportProblem = (
  subject: HealthSubject,
  text: string,
  sinceMs: number | null,
  todo: string,
): HealthFinding => ({
  ...{ subject, isHealthy: false, text, sinceMs, todo },
})
