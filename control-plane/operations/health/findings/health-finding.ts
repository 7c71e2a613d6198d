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

/** A fact that could not be read is neither healthy nor a fault of the part that it is about. `what`: a clause. */
export const reportUnknown = (
  subject: HealthSubject,
  what: string,
  why = 'NATS did not answer this question',
): HealthFinding =>
  reportProblem(
    subject,
    `It is unknown ${what}, because ${why}`,
    null,
    'Ask again. If this stays, look at the findings about streams, check the log of NATS, and in a cluster whether its streams have a leader.',
  )

/** Why the age of messages is unknown. */
export const NO_TIME = "JetStream's time is unknown"
