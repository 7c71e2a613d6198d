/** What is known about the watching at one moment. All times are ms since 1970 by the clock of the engine that holds them. */
export type HealthFacts = {
  /** of the machine that asks */
  machineMs: number
  /** of the engines whose answer was quick enough to tell */
  clocks: ClockFact[]
  /** null: it gave no answer */
  postgres: PostgresFacts | null
  nats: NatsFacts | null
  clickhouse: ClickhouseFacts | null
}

/** How far the clock of an engine is ahead of the machine that asks. */
export type ClockFact = { name: string; aheadMs: number }

export type PostgresFacts = {
  nowMs: number
  /** a standby that was not promoted takes no writes */
  isReadOnly: boolean
  partitions: PartitionFact[]
  regions: RegionFact[]
  /** those that get work */
  probes: ProbeFact[]
  /** what probes sent in the last day that is not theirs to send */
  foreignReports: ForeignReportFact[]
  /** lanes of deliveries that are due in projects to which nothing is being sent; `sinceMs`: the one that is due for longest */
  deliveriesDue: WaitingWork
  /** events whose deliveries are not queued yet */
  fanOuts: WaitingWork
  /** until when heartbeat pings were taken, and how many monitors wait for one */
  heartbeats: { monitors: number; listeningAtMs: number }
  /** the newest change of any monitor's status; null: there was none */
  lastTransitionAtMs: number | null
  plannedOutages: PlannedOutageFacts
  standbys: StandbyFact[]
}

export type PartitionFact = {
  id: number
  /** a live lease */
  hasOwner: boolean
  /** end of the last lease; null: given back, or never owned */
  leaseUntilMs: number | null
  position: number
  positionAtMs: number | null
  streamCreated: string | null
}

export type RegionFact = {
  region: string
  monitors: number
  unassigned: number
  liveProbes: number
  noLiveProbeSinceMs: number | null
  lastHeartbeatAtMs: number | null
}

export type ProbeFact = {
  name: string
  region: string
  /** results on its disk that it could not publish yet */
  spoolResults: number
  /** results that it lost since its start */
  droppedResults: number
  /** its own test of its connection; null: it says nothing */
  connectivityOk: boolean | null
}

/** Refused reports of the probes of one region. `probe`: the name of the newest one's probe, or its id as the message says. */
export type ForeignReportFact = {
  region: string
  what: 'result' | 'comparison' | 'screenshot'
  amount: number
  probe: string | null
  firstAtMs: number
  lastAtMs: number
}

export type WaitingWork = { count: number; sinceMs: number | null }

/** Of the last day: planned failures of canaries that were noticed and reported as guaranteed, and those that were not. */
export type PlannedOutageFacts = {
  kept: number
  missed: number
  /** `lateSeconds` null: it was not noticed, or no alert arrived */
  lastMiss: { kind: string; startedAtMs: number; measuredAtMs: number; lateSeconds: number | null } | null
}

/** A standby of PostgreSQL. `state` null: this user may not see it. `behindMs` null: nothing waits. */
export type StandbyFact = { name: string; isConnected: boolean; state: string | null; behindMs: number | null }

export type NatsFacts = {
  /** JetStream's time; null: it could not be learned */
  nowMs: number | null
  streams: StreamFact[]
  /** the oldest message of each partition that its reader has not counted, by partition; nothing: all are counted */
  uncounted: ReadonlyMap<number, { takenAtMs: number }>
  recorders: RecorderFact[]
}

export type StreamFact = {
  name: string
  bytes: number
  /** null: no limit */
  maxBytes: number | null
  /** a full stream refuses new messages; else the oldest make room */
  refusesWhenFull: boolean
  messages: number
  lastSequence: number
  firstAtMs: number
  lastAtMs: number
  /** copies on other servers that are away or not up to date */
  replicasBehind: string[]
}

/** What the history still has to get of a stream. `oldestAtMs` null: nothing. */
export type RecorderFact = { stream: string; waiting: number; oldestAtMs: number | null }

export type ClickhouseFacts = {
  nowMs: number
  /** when the newest result was written; null: none within an hour */
  lastRecordedAtMs: number | null
}
