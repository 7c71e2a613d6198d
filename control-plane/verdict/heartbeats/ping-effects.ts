import { HEARTBEAT_REGION } from '../../monitoring/monitors/types.ts'
import type { VerdictChange } from '../core/decision-actions.ts'
import { decideSingleSource } from '../core/rules/single-source.ts'
import { createMonitorState } from '../core/rules/state.ts'
import type { MonitorState, StatusTransition } from '../core/types.ts'
import { toObservation, toSingleSourceMonitor } from './observation.ts'
import { computeAllowedMs, isEvaluated } from './overdue.ts'
import { buildFailureMessage, buildOverdueMessage } from './text.ts'
import type { Heartbeat, LockedHeartbeat, Ping, PingArrival } from './types.ts'

/**
 * A monitor after some pings: the pings to store, the change that the verdict has to store (null: none), and the deadline
 * before them.
 */
export type PingEffects = {
  locked: LockedHeartbeat
  pings: Ping[]
  change: VerdictChange | null
  dueBeforeMs: number | null
}

export const createPingEffects = (locked: LockedHeartbeat): PingEffects => ({
  locked,
  pings: [],
  change: null,
  dueBeforeMs: locked.heartbeat.dueAtMs,
})

type Content = Pick<Ping, 'kind' | 'exitCode' | 'message' | 'body' | 'arrivalId'>

/** The pings of one moment get times that are a millisecond apart. */
const MAX_AHEAD_MS = 60_000

/**
 * Applies one ping (docs/design/heartbeats.md#overdue). While the monitor is paused or incomplete, the ping is only
 * stored. The same applies to a queued ping that is older than a stored one, because it does not show the current
 * state; a stored one that is far ahead of `nowMs` is from before PostgreSQL's clock was set back, and does not count.
 * The deadline after a queued ping counts from now: later pings may still be queued.
 */
export function applyPing(
  effects: PingEffects,
  { signal, body, id, isKept }: Pick<PingArrival, 'signal' | 'body'> & Partial<Pick<PingArrival, 'id' | 'isKept'>>,
  receivedAtMs: number,
  nowMs = receivedAtMs,
): PingEffects {
  const message = signal.kind === 'fail' ? buildFailureMessage(signal, body) : null
  const content = { ...signal, message, body, arrivalId: id ?? null }
  const lastPingAtMs = effects.locked.heartbeat.lastPingAtMs ?? 0
  const isOld = isKept === true && receivedAtMs < lastPingAtMs && lastPingAtMs <= nowMs + MAX_AHEAD_MS
  return addPing(effects, content, receivedAtMs, { isOld, deadlineFromMs: isKept === true ? nowMs : receivedAtMs })
}

/** Applies a success that did not arrive in time. It counts like a ping that reports a failure. */
export function markOverdue(locked: LockedHeartbeat, nowMs: number): PingEffects {
  const message = buildOverdueMessage(locked.monitor)
  return addPing(
    createPingEffects(locked),
    { kind: 'overdue', exitCode: null, message, body: null, arrivalId: null },
    nowMs,
  )
}

function addPing(
  { locked, pings, change, dueBeforeMs }: PingEffects,
  content: Content,
  receivedAtMs: number,
  { isOld, deadlineFromMs } = { isOld: false, deadlineFromMs: receivedAtMs },
): PingEffects {
  const { monitor, state } = locked
  const heartbeat = state === null ? resetHeartbeat(locked.heartbeat) : locked.heartbeat
  const ping = buildPing(locked, heartbeat, content, receivedAtMs)
  const isCounted = isEvaluated(monitor) && ping.kind !== 'log' && !isOld
  const decision = isCounted ? decidePing(locked, ping) : null
  const moved =
    decision === null ? heartbeat : advanceHeartbeat(heartbeat, locked, ping, decision.state, deadlineFromMs)
  const isSeen = ping.kind !== 'overdue'
  return {
    locked: {
      monitor,
      state: decision?.state ?? state,
      heartbeat: { ...moved, pings: ping.number, lastPingAtMs: isSeen ? ping.at.getTime() : moved.lastPingAtMs },
    },
    pings: [...pings, ping],
    change: decision?.mustStore ? mergeChange(change, locked, decision) : change,
    dueBeforeMs,
  }
}

/** For a monitor that is new, resumed, or has just become a heartbeat: earlier runs and deadlines do not count. */
const resetHeartbeat = (heartbeat: Heartbeat): Heartbeat => ({ ...heartbeat, runStartedAtMs: null, dueAtMs: null })

/** The clocks of processes may differ a little, so each ping gets a later time than the one before it. */
function buildPing(
  { monitor, state }: LockedHeartbeat,
  heartbeat: Heartbeat,
  content: Content,
  receivedAtMs: number,
): Ping {
  const decidedAtMs = state?.cells[0]?.fence.scheduledAtMs ?? 0
  const atMs = Math.max(receivedAtMs, (heartbeat.lastPingAtMs ?? 0) + 1, decidedAtMs + 1)
  const endsRun = (content.kind === 'success' || content.kind === 'fail') && heartbeat.runStartedAtMs !== null
  return {
    ...content,
    monitorId: monitor.id,
    number: heartbeat.pings + 1,
    at: new Date(atMs),
    runMs: endsRun ? atMs - heartbeat.runStartedAtMs! : null,
  }
}

type PingDecision = { state: MonitorState; transition: StatusTransition | null; mustStore: boolean }

/** The state of a monitor that begins with a start is stored, so that its success is awaited. */
function decidePing({ monitor, state }: LockedHeartbeat, ping: Ping): PingDecision {
  const observation = toObservation(ping)
  if (observation === null) {
    const begun = state ?? createMonitorState(monitor.id, monitor.configVersion)
    return { state: begun, transition: null, mustStore: state === null }
  }
  const decision = decideSingleSource(HEARTBEAT_REGION, toSingleSourceMonitor(monitor), state, observation)
  // pings are not read again after a restart
  return { ...decision, mustStore: decision.store !== 'no' || state === null }
}

/**
 * Sets the deadline of the next success, from the previous success or the first start. A later start does not change
 * it: a job may run for as long as interval and grace allow. After PostgreSQL's clock was set back, pings are later than
 * they arrived, and the deadline counts from the arrival (`deadlineFromMs`).
 */
function advanceHeartbeat(
  heartbeat: Heartbeat,
  { monitor }: LockedHeartbeat,
  ping: Ping,
  state: MonitorState,
  deadlineFromMs: number,
): Heartbeat {
  const atMs = ping.at.getTime()
  const dueAtMs = deadlineFromMs + computeAllowedMs(monitor)!
  if (ping.kind === 'success') return { ...heartbeat, lastSuccessAtMs: atMs, runStartedAtMs: null, dueAtMs }
  if (ping.kind === 'fail') return { ...heartbeat, runStartedAtMs: null, dueAtMs: null }
  if (ping.kind === 'overdue') return { ...heartbeat, dueAtMs: null }
  const isWaiting = state.status !== 'down'
  return { ...heartbeat, runStartedAtMs: atMs, dueAtMs: isWaiting ? (heartbeat.dueAtMs ?? dueAtMs) : null }
}

function mergeChange(
  change: VerdictChange | null,
  { monitor }: LockedHeartbeat,
  { state, transition }: PingDecision,
): VerdictChange {
  const transitions = [...(change?.transitions ?? []), ...(transition === null ? [] : [transition])]
  return { monitorId: monitor.id, configVersion: monitor.configVersion, state, transitions }
}
