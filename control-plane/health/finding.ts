/** One sentence about one part of the watching, for the operator. */
export type Finding = {
  /** the part; the label of a metric */
  subject: Subject
  isWell: boolean
  text: string
  /** ms since 1970; null: it is not known, or it is well */
  sinceMs: number | null
  /** null: there is nothing to do */
  todo: string | null
}

export const SUBJECTS = [
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
export type Subject = (typeof SUBJECTS)[number]

export const well = (subject: Subject, text: string): Finding => ({
  ...{ subject, isWell: true, text, sinceMs: null, todo: null },
})

export const unwell = (subject: Subject, text: string, sinceMs: number | null, todo: string): Finding => ({
  ...{ subject, isWell: false, text, sinceMs, todo },
})
