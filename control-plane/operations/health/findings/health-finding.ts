/** One sentence about one part of the watching, for the operator. */
export type HealthFinding = {
  /** the part; the label of a metric */
  subject: HealthSubject
  isHealthy: boolean
  text: string
  /** ms since 1970; null: it is not known, or it is well */
  sinceMs: number | null
  /** null: there is nothing to do */
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
