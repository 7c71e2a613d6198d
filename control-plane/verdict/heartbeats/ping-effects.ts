import { HEARTBEAT_REGION } from '../../monitoring/monitors/types.ts'
import type { VerdictChange } from '../core/decision-actions.ts'
import { decideSingleSource } from '../core/rules/single-source.ts'
import { createMonitorState } from '../core/rules/state.ts'
import type { MonitorState, StatusTransition } from '../core/types.ts'
import { toObservation, toSingleSourceMonitor } from './observation.ts'
import { computeAllowedMs, isEvaluated } from './overdue.ts'
import { buildFailureMessage, buildOverdueMessage } from './text.ts'
import type { Heartbeat, LockedHeartbeat, Ping, PingArrival } from './types.ts'

/** A monitor after some pings: what to keep of them, and what the verdict has to store; null when that is nothing. */
export type PingEffects = { locked: LockedHeartbeat; pings: Ping[]; change: VerdictChange | null }

export const createPingEffects = (watch: LockedHeartbeat): PingEffects => ({ locked: watch, pings: [], change: null })

type Content = Pick<Ping, 'kind' | 'exitCode' | 'message' | 'body' | 'arrivalId'>

/**
 * What one ping does (decisions 3.7). While the monitor is paused or incomplete it is stored, and that is all. The same
 * holds for a ping that was delayed in the message stream while a newer one was stored: it says nothing about now.
 */
export function applyPing(
  taken: PingEffects,
  { signal, body, id, isKept }: Pick<PingArrival, 'signal' | 'body'> & Partial<Pick<PingArrival, 'id' | 'isKept'>>,
  receivedAtMs: number,
): PingEffects {
  const message = signal.kind === 'fail' ? buildFailureMessage(signal, body) : null
  const content = { ...signal, message, body, arrivalId: id ?? null }
  const isOld = isKept === true && receivedAtMs < (taken.locked.heartbeat.lastPingAtMs ?? 0)
  return addPing(taken, content, receivedAtMs, isOld)
}

/** The success that did not come, once overdue.ts says so: it counts like a ping that reports a failure. */
export function markOverdue(watch: LockedHeartbeat, nowMs: number): PingEffects {
  const message = buildOverdueMessage(watch.monitor)
  return addPing(
    createPingEffects(watch),
    { kind: 'overdue', exitCode: null, message, body: null, arrivalId: null },
    nowMs,
  )
}

function addPing(
  { locked: watch, pings, change }: PingEffects,
  content: Content,
  receivedAtMs: number,
  isOld = false,
): PingEffects {
  const { monitor, state } = watch
  const heartbeat = state === null ? resetHeartbeat(watch.heartbeat) : watch.heartbeat
  const ping = buildPing(watch, heartbeat, content, receivedAtMs)
  const isCounted = isEvaluated(monitor) && ping.kind !== 'log' && !isOld
  const judged = isCounted ? decidePing(watch, ping) : null
  const moved = judged === null ? heartbeat : advanceHeartbeat(heartbeat, watch, ping, judged.state)
  const isSeen = ping.kind !== 'overdue'
  return {
    locked: {
      monitor,
      state: judged?.state ?? state,
      heartbeat: { ...moved, pings: ping.number, lastPingAtMs: isSeen ? ping.at.getTime() : moved.lastPingAtMs },
    },
    pings: [...pings, ping],
    change: judged?.mustStore ? mergeChange(change, watch, judged) : change,
  }
}

/** New, resumed, or a heartbeat only now: what was before counts no more, and nothing is waited for. */
const resetHeartbeat = (heartbeat: Heartbeat): Heartbeat => ({ ...heartbeat, runStartedAtMs: null, dueAtMs: null })

/** The clocks of several processes may differ a little: no ping is older than the one before it. */
function buildPing(
  { monitor, state }: LockedHeartbeat,
  heartbeat: Heartbeat,
  content: Content,
  receivedAtMs: number,
): Ping {
  const judgedAtMs = state?.cells[0]?.fence.scheduledAtMs ?? 0
  const atMs = Math.max(receivedAtMs, (heartbeat.lastPingAtMs ?? 0) + 1, judgedAtMs + 1)
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

/** A start is stored for a monitor that begins with it, so that its success is waited for. */
function decidePing({ monitor, state }: LockedHeartbeat, ping: Ping): PingDecision {
  const said = toObservation(ping)
  if (said === null) {
    const begun = state ?? createMonitorState(monitor.id, monitor.configVersion)
    return { state: begun, transition: null, mustStore: state === null }
  }
  const decision = decideSingleSource(HEARTBEAT_REGION, toSingleSourceMonitor(monitor), state, said)
  // pings are not read again after a restart
  return { ...decision, mustStore: decision.store !== 'no' || state === null }
}

/**
 * A success is waited for from the success before on, or from the first start. A later start does not hasten it: a job
 * may run for as long as its interval and grace allow.
 */
function advanceHeartbeat(
  heartbeat: Heartbeat,
  { monitor }: LockedHeartbeat,
  ping: Ping,
  state: MonitorState,
): Heartbeat {
  const atMs = ping.at.getTime()
  const dueAtMs = atMs + computeAllowedMs(monitor)!
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
