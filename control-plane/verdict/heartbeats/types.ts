import type { MonitorState } from '../core/types.ts'

/** What a ping URL can be told (decisions 3.7). */
export type PingSignal = { kind: 'success' | 'start' | 'fail' | 'log'; exitCode: number | null }

/** A ping as it arrived. */
export type PingArrival = {
  /** UUID, given when it arrived */
  id: string
  /** SHA-256 of its token */
  tokenHash: Buffer
  signal: PingSignal
  /** as text, cut at 10 kB; null without one */
  body: string | null
  /** when it arrived, ms since 1970 by the clock of the process that took it, which follows PostgreSQL's */
  receivedAtMs: number
  /** it comes from the message stream, where it has been since it arrived */
  isKept: boolean
  /** set while it waits for its commit: it is in the message stream now, so this commit must leave it out */
  isWithdrawn: boolean
}

/** What became of a ping: stored, its token unknown, or acknowledged by the message stream until it can be stored. */
export type PingOutcome = 'stored' | 'unknown' | 'kept'

/** A ping as it is kept; `overdue` is the one that did not come. */
export type Ping = {
  monitorId: string
  /** counts a monitor's pings from 1 */
  number: number
  kind: PingSignal['kind'] | 'overdue'
  exitCode: number | null
  /** later than that of the ping before, by at least a millisecond */
  at: Date
  /** since the start of the run that this one ends */
  runMs: number | null
  /** why it is a failure, as a sentence; null when it is none */
  message: string | null
  body: string | null
  /** id of the arrival; null for one that did not come */
  arrivalId: string | null
}

/** What is known of a heartbeat beside the verdict's own state. Times in ms since 1970 by PostgreSQL's clock. */
export type Heartbeat = {
  /** how many pings there ever were */
  pings: number
  lastPingAtMs: number | null
  lastSuccessAtMs: number | null
  /** of the run that is under way */
  runStartedAtMs: number | null
  /** when a missing success makes the monitor down; null: nothing is waited for */
  dueAtMs: number | null
}

/** The part of a monitor that its heartbeat is judged by. */
export type HeartbeatMonitor = {
  id: string
  configVersion: number
  isPaused: boolean
  /** seconds; null: the monitor is not complete, its pings are kept and nothing is judged */
  interval: number | null
  /** seconds */
  grace: number | null
}

/** A monitor on its locked row. `state` null: new, resumed or just become a heartbeat, so that it starts anew. */
export type LockedHeartbeat = { monitor: HeartbeatMonitor; heartbeat: Heartbeat; state: MonitorState | null }
