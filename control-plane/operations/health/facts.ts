import type { StreamInfo } from '../../foundation/platform/nats/stream-info.ts'

/** Facts about the installation at one moment. All times are ms since 1970 by the clock of the engine that stores them. */
export type HealthFacts = {
  /** time of the machine that asks */
  machineMs: number
  /** clocks of the engines that answered fast enough to compare */
  clocks: ClockFact[]
  /** null: no answer, or a standby */
  postgres: PostgresFacts | null
  /** PostgreSQL is a standby that was not promoted */
  isStandby: boolean
  nats: NatsFacts | null
  clickhouse: ClickhouseFacts | null
}

/** How far the clock of an engine is ahead of the machine that asks. */
export type ClockFact = { name: string; aheadMs: number }

export type PostgresFacts = {
  nowMs: number
  /** it is set to accept no writes */
  isReadOnly: boolean
  partitions: PartitionFact[]
  regions: RegionFact[]
  /** probes in a live set */
  probes: ProbeFact[]
  /** refused reports of the last day about other regions or monitors */
  foreignReports: ForeignReportFact[]
  /** due lanes of projects without a delivery in flight; `sinceMs`: the lane that has been due longest */
  deliveriesDue: WaitingWork
  /** events whose deliveries are not queued yet */
  fanOuts: WaitingWork
  /** until when heartbeat pings were accepted, and how many monitors wait for one */
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
  /** end of the last lease; null: released, or never owned */
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
  /** results that were dropped since its start */
  droppedResults: number
  /** the probe's test of its own connection; null: not reported */
  connectivityOk: boolean | null
}

/** Refused reports of the probes of one region. `probe`: the name of the probe of the newest one, or the id in the message. */
export type ForeignReportFact = {
  region: string
  what: 'result' | 'comparison' | 'screenshot'
  amount: number
  probe: string | null
  firstAtMs: number
  lastAtMs: number
}

export type WaitingWork = { count: number; sinceMs: number | null }

/** Planned canary failures of the last day that were reported within the guarantee, and those that were not. */
type PlannedOutageFacts = {
  kept: number
  missed: number
  /** `lateSeconds` null: it was not noticed, or no alert arrived */
  lastMiss: { kind: string; startedAtMs: number; measuredAtMs: number; lateSeconds: number | null } | null
}

/** A standby of PostgreSQL. `state` null: no permission to read it. `behindMs` null: it is up to date. */
export type StandbyFact = { name: string; isConnected: boolean; state: string | null; behindMs: number | null }

export type NatsFacts = {
  /** JetStream's time; null: it could not be learned */
  nowMs: number | null
  streams: StreamFact[]
  /** those that do not exist; control planes create them within seconds */
  missingStreams: string[]
  /** the oldest uncounted message by partition; a missing partition has counted all */
  uncounted: ReadonlyMap<number, { takenAtMs: number }>
  recorders: RecorderFact[]
  unread: UnreadFacts
}

/** What NATS did not answer while it answered other questions: streams, recorders by stream, partitions, and its time. */
type UnreadFacts = { streams: string[]; recorders: string[]; partitions: number[]; clock: boolean }

export type StreamFact = { name: string } & Omit<StreamInfo, 'created'>

/** Messages of a stream that are not in ClickHouse yet. `oldestAtMs` null: none. */
export type RecorderFact = { stream: string; waiting: number; oldestAtMs: number | null }

export type ClickhouseFacts = {
  nowMs: number
  /** when the newest result was written; null: none within an hour */
  lastRecordedAtMs: number | null
}
