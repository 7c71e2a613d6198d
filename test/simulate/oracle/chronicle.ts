/**
 * What happened in a simulation: all that the oracle knows. Times in ms since the beginning. Nothing in this folder imports
 * anything of the programs.
 */
export type Chronicle = {
  seed: number
  endMs: number
  checks: number
  /** how often a region got another live set */
  liveSets: number
  /** results by what the verdict made of them */
  kinds: Record<string, number>
  /** all that have probes */
  regions: readonly string[]
  monitors: MonitorHistory[]
  outages: TargetOutage[]
  faults: RecordedFault[]
  /** in the order of their commits */
  transitions: CommittedTransition[]
}

export type MonitorHistory = {
  id: string
  /** in their order */
  settings: SettingsPeriod[]
  /** the target is slow when it is well */
  isSlow: boolean
}

export type SettingsPeriod = {
  fromMs: number
  regions: readonly string[]
  intervalS: number
  timeoutMs: number
  retryCount: number
  /** a probe of another region may check it */
  witness: boolean
  isPaused: boolean
  /** the target or its assertions were changed with this */
  isOtherTarget: boolean
}

/** `isShared`: many other hosts began to fail at the same time. */
export type TargetOutage = { monitorId: string; kind: string; fromMs: number; toMs: number; isShared: boolean }

/** `region`: of the probe or the region that it concerns; null: everything. */
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
  /** null: no status any more */
  to: string | null
  quorum: string
}
