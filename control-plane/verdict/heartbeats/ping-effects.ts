import { HEARTBEAT_REGION } from '../../monitoring/monitors/types.ts'
import type { VerdictChange } from '../core/decision-actions.ts'
import { decideSingleSource } from '../core/rules/single-source.ts'
import { createMonitorState } from '../core/rules/state.ts'
import type { MonitorState, StatusTransition } from '../core/types.ts'
import { toObservation, toSingleSourceMonitor } from './observation.ts'
import { computeAllowedMs, isEvaluated } from './overdue.ts'
import { findNewestDecidingMs, isOlder } from './ping-order.ts'
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

/** How a ping arrived. `queuedAtMs`: when a queued one did; null for others. `isOld`: it does not show the current state. */
type Arrival = { queuedAtMs: number | null; isOld: boolean; nowMs: number }

/**
 * Applies one ping (docs/design/heartbeats.md#overdue). While the monitor is paused or incomplete, the ping is only
 * stored. The same applies to a queued ping that does not show the current state (ping-order.ts). The deadline after a
 * queued ping counts from now: later pings may still be queued.
 */
export function applyPing(
  effects: PingEffects,
  { signal, body, id, isKept }: Pick<PingArrival, 'signal' | 'body'> & Partial<Pick<PingArrival, 'id' | 'isKept'>>,
  receivedAtMs: number,
  nowMs = receivedAtMs,
): PingEffects {
  const message = signal.kind === 'fail' ? buildFailureMessage(signal, body) : null
  const content = { ...signal, message, body, arrivalId: id ?? null }
  if (isKept !== true) return addPing(effects, content, receivedAtMs)
  const { heartbeat, state } = effects.locked
  const newestMs = signal.kind === 'start' ? heartbeat.lastPingAtMs : findNewestDecidingMs(heartbeat, state)
  const isOld = isOlder(receivedAtMs, newestMs, nowMs)
  return addPing(effects, content, receivedAtMs, { queuedAtMs: receivedAtMs, isOld, nowMs })
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
  arrival: Arrival = { queuedAtMs: null, isOld: false, nowMs: receivedAtMs },
): PingEffects {
  const { monitor, state } = locked
  const heartbeat = state === null ? resetHeartbeat(locked.heartbeat) : locked.heartbeat
  const { queuedAtMs, isOld, nowMs } = arrival
  // a start that is newer than a queued ping begins the next run
  const endsRun = queuedAtMs === null || !isOlder(queuedAtMs, heartbeat.runStartedAtMs, nowMs)
  const ping = buildPing(locked, heartbeat, content, receivedAtMs, endsRun)
  const isCounted = isEvaluated(monitor) && ping.kind !== 'log' && !isOld
  const decision = isCounted ? decidePing(locked, ping, queuedAtMs) : null
  const moved = decision === null ? heartbeat : advanceHeartbeat(heartbeat, locked, ping, decision.state, arrival)
  const runStartedAtMs = endsRun ? moved.runStartedAtMs : heartbeat.runStartedAtMs
  const isSeen = ping.kind !== 'overdue'
  return {
    locked: {
      monitor,
      state: decision?.state ?? state,
      heartbeat: {
        ...moved,
        runStartedAtMs,
        pings: ping.number,
        lastPingAtMs: isSeen ? ping.at.getTime() : moved.lastPingAtMs,
      },
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
  mayEndRun: boolean,
): Ping {
  const decidedAtMs = state?.cells[0]?.fence.scheduledAtMs ?? 0
  const atMs = Math.max(receivedAtMs, (heartbeat.lastPingAtMs ?? 0) + 1, decidedAtMs + 1)
  const endsRun =
    mayEndRun && (content.kind === 'success' || content.kind === 'fail') && heartbeat.runStartedAtMs !== null
  return {
    ...content,
    monitorId: monitor.id,
    number: heartbeat.pings + 1,
    at: new Date(atMs),
    runMs: endsRun ? atMs - heartbeat.runStartedAtMs! : null,
  }
}

type PingDecision = { state: MonitorState; transition: StatusTransition | null; mustStore: boolean }

/**
 * The state of a monitor that begins with a start is stored, so that its success is awaited. That of each failure is,
 * because queued pings are compared with its time.
 */
function decidePing({ monitor, state }: LockedHeartbeat, ping: Ping, queuedAtMs: number | null): PingDecision {
  const observation = toObservation(ping)
  if (observation === null) {
    const begun = state ?? createMonitorState(monitor.id, monitor.configVersion)
    return { state: begun, transition: null, mustStore: state === null }
  }
  const arrived = queuedAtMs === null ? observation : { ...observation, arrivedAtMs: queuedAtMs }
  const decision = decideSingleSource(HEARTBEAT_REGION, toSingleSourceMonitor(monitor), state, arrived)
  // pings are not read again after a restart
  return { ...decision, mustStore: decision.store !== 'no' || state === null || ping.kind === 'fail' }
}

/**
 * Sets the deadline of the next success, from the previous success or the first start. A later start does not change
 * it: a job may run for as long as interval and grace allow. After PostgreSQL's clock was set back, pings are later than
 * they arrived, and the deadline counts from the arrival. For queued pings, last success and start of the run are the
 * times of their arrival, because later queued pings are compared with them.
 */
function advanceHeartbeat(
  heartbeat: Heartbeat,
  { monitor }: LockedHeartbeat,
  ping: Ping,
  state: MonitorState,
  { queuedAtMs, nowMs }: Arrival,
): Heartbeat {
  const atMs = ping.at.getTime()
  const dueAtMs = nowMs + computeAllowedMs(monitor)!
  if (ping.kind === 'success')
    return { ...heartbeat, lastSuccessAtMs: queuedAtMs ?? atMs, runStartedAtMs: null, dueAtMs }
  if (ping.kind === 'fail') return { ...heartbeat, runStartedAtMs: null, dueAtMs: null }
  if (ping.kind === 'overdue') return { ...heartbeat, dueAtMs: null }
  const isWaiting = state.status !== 'down'
  return {
    ...heartbeat,
    runStartedAtMs: queuedAtMs ?? atMs,
    dueAtMs: isWaiting ? (heartbeat.dueAtMs ?? dueAtMs) : null,
  }
}

function mergeChange(
  change: VerdictChange | null,
  { monitor }: LockedHeartbeat,
  { state, transition }: PingDecision,
): VerdictChange {
  const transitions = [...(change?.transitions ?? []), ...(transition === null ? [] : [transition])]
  return { monitorId: monitor.id, configVersion: monitor.configVersion, state, transitions }
}
