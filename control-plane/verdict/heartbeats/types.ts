import type { MonitorState } from '../core/types.ts'

/** The signal of a ping URL. */
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
  /** when it arrived, ms since 1970 by the clock of the process that accepted it, which follows PostgreSQL's */
  receivedAtMs: number
  /** it was queued in the message stream, or has waited for its locked monitor: newer pings may be stored already */
  isKept: boolean
  /** set while it waits for its commit: it is in the message stream now, so the commit must leave it out */
  isWithdrawn: boolean
}

/** Whether a ping is stored; false: its token is unknown. `locked`: its monitor is locked, so it has to be tried again. */
export type PingAnswer = boolean | 'locked'

/** The outcome of a ping: stored, unknown token, or queued in the message stream (`kept`). */
export type PingOutcome = 'stored' | 'unknown' | 'kept'

/** A stored ping; `overdue` is one that did not arrive. */
export type Ping = {
  monitorId: string
  /** counts a monitor's pings from 1 */
  number: number
  kind: PingSignal['kind'] | 'overdue'
  exitCode: number | null
  /** at least a millisecond later than the ping before */
  at: Date
  /** length of the run that it ends, in ms */
  runMs: number | null
  /** why it is a failure, as a sentence; null for others */
  message: string | null
  body: string | null
  /** id of the arrival; null for an overdue one */
  arrivalId: string | null
}

/** The state of a heartbeat, in addition to its verdict state. Times in ms since 1970 by PostgreSQL's clock. */
export type Heartbeat = {
  /** number of pings since the monitor was created */
  pings: number
  lastPingAtMs: number | null
  lastSuccessAtMs: number | null
  /** start of the current run; null without one */
  runStartedAtMs: number | null
  /** when a missing success makes the monitor down; null without a deadline */
  dueAtMs: number | null
}

/** The settings of a monitor by which its pings are evaluated. */
export type HeartbeatMonitor = {
  id: string
  /** false: its type was changed since */
  isHeartbeat: boolean
  configVersion: number
  isPaused: boolean
  /** seconds; null: the monitor is incomplete, and its pings are stored without an evaluation */
  interval: number | null
  /** seconds */
  grace: number | null
}

/** A locked monitor. `state` is null for one that is new, resumed, or has just become a heartbeat. */
export type LockedHeartbeat = { monitor: HeartbeatMonitor; heartbeat: Heartbeat; state: MonitorState | null }
