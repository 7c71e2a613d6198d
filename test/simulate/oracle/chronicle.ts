/**
 * The record of a simulation, and the only input of the oracle. Times in ms since the beginning. The files of this folder
 * import no code of the programs.
 */
export type Chronicle = {
  seed: number
  /** ms since 1970 */
  beginMs: number
  endMs: number
  checks: number
  /** number of changes of live sets */
  liveSets: number
  /** number of results by outcome of the count */
  kinds: Record<string, number>
  /** all regions with probes */
  regions: readonly string[]
  monitors: MonitorHistory[]
  outages: TargetOutage[]
  faults: RecordedFault[]
  /** in commit order */
  transitions: CommittedTransition[]
  /** in commit order */
  windows: MaintenanceWindow[]
  /** in commit order */
  notifications: SentNotification[]
  history: HistoryRecord
}

export type MonitorHistory = {
  id: string
  /** ordered by time */
  settings: SettingsPeriod[]
  /** the target is slow even when it works */
  isSlow: boolean
}

export type SettingsPeriod = {
  fromMs: number
  regions: readonly string[]
  intervalS: number
  timeoutMs: number
  retryCount: number
  /** a probe of another region may check it as a witness */
  witness: boolean
  isPaused: boolean
  /** this change replaced the target or its assertions */
  isOtherTarget: boolean
}

/** `isShared`: many other hosts began to fail at the same time. `regions`: those that see the outage; missing: all. */
export type TargetOutage = {
  monitorId: string
  kind: string
  fromMs: number
  toMs: number
  isShared: boolean
  regions?: readonly string[]
}

/** `region`: the region concerned, also for a fault of a probe; null: all regions. */
export type RecordedFault = {
  kind: string
  fromMs: number
  toMs: number
  place: string
  region: string | null
  size: number
}

export type CommittedTransition = {
  monitorId: string
  atMs: number
  from: string | null
  /** null: the status was cleared */
  to: string | null
  quorum: string
  /** the regions that disagree, by the sentence of a change to `degraded` */
  named: readonly string[]
}

/**
 * Maintenance of a monitor, as PostgreSQL has it: `fromMs` and `toMs` by its clock, which is wrong after it was set.
 * `storedMs`: when it was stored; nothing becomes maintenance before.
 */
type MaintenanceWindow = { monitorId: string; fromMs: number; toMs: number; storedMs: number }

/** What receivers were sent about a status. */
export type SentNotification = { monitorId: string; atMs: number; status: string }

/**
 * A message that JetStream has stored, with the keys of its rows (docs/design/history.md#data), each as JSON without
 * brackets: monitor, region, scheduled time in ms since 1970, attempt, probe, and the epoch or `"witness"`.
 */
export type StoredMessage = { sequence: number; atMs: number; keys: readonly string[] }

/** The history as it was judged while the simulation ran. */
export type HistoryRecord = {
  /** number of rows, without repeated ones */
  results: number
  repeated: number
  /** number of deliveries after the first one of a message */
  redelivered: number
  missing: number
  /** the longest time from JetStream to the acknowledgement without a fault */
  maxMs: number
  violations: HistoryViolation[]
}

/** `monitorId` is empty when it is not known. */
export type HistoryViolation = {
  what: 'not in the history' | 'unknown row' | 'acknowledged early'
  monitorId: string
  fromMs: number
  atMs: number
  details: string
}
