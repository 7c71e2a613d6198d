import { HEARTBEAT_REGION } from '../monitors/types.ts'
import type { Change } from '../verdict/judge.ts'
import { decideAlone } from '../verdict/one-voter.ts'
import { newMonitorState } from '../verdict/state.ts'
import type { MonitorState, Transition } from '../verdict/types.ts'
import { saidBy, voterOf } from './observation.ts'
import { allowedMs, isJudged } from './overdue.ts'
import { failureMessage, overdueMessage } from './text.ts'
import type { Arrival, Heartbeat, Ping, Watch } from './types.ts'

/** A monitor after some pings: what to keep of them, and what the verdict has to store; null when that is nothing. */
export type Taken = { watch: Watch; pings: Ping[]; change: Change | null }

export const nothingTaken = (watch: Watch): Taken => ({ watch, pings: [], change: null })

type Content = Pick<Ping, 'kind' | 'exitCode' | 'message' | 'body' | 'arrivalId'>

/**
 * What one ping does (decisions 3.7). While the monitor is paused or incomplete it is stored, and that is all. The same
 * holds for a ping that was delayed in the message stream while a newer one was stored: it says nothing about now.
 */
export function takePing(
  taken: Taken,
  { signal, body, id, isKept }: Pick<Arrival, 'signal' | 'body'> & Partial<Pick<Arrival, 'id' | 'isKept'>>,
  receivedAtMs: number,
): Taken {
  const message = signal.kind === 'fail' ? failureMessage(signal, body) : null
  const content = { ...signal, message, body, arrivalId: id ?? null }
  const isOld = isKept === true && receivedAtMs < (taken.watch.heartbeat.lastPingAtMs ?? 0)
  return add(taken, content, receivedAtMs, isOld)
}

/** The success that did not come, once overdue.ts says so: it counts like a ping that reports a failure. */
export function missBeat(watch: Watch, nowMs: number): Taken {
  const message = overdueMessage(watch.monitor)
  return add(nothingTaken(watch), { kind: 'overdue', exitCode: null, message, body: null, arrivalId: null }, nowMs)
}

function add({ watch, pings, change }: Taken, content: Content, receivedAtMs: number, isOld = false): Taken {
  const { monitor, state } = watch
  const heartbeat = state === null ? startAnew(watch.heartbeat) : watch.heartbeat
  const ping = pingAfter(watch, heartbeat, content, receivedAtMs)
  const isCounted = isJudged(monitor) && ping.kind !== 'log' && !isOld
  const judged = isCounted ? judgePing(watch, ping) : null
  const moved = judged === null ? heartbeat : after(heartbeat, watch, ping, judged.state)
  const isSeen = ping.kind !== 'overdue'
  return {
    watch: {
      monitor,
      state: judged?.state ?? state,
      heartbeat: { ...moved, pings: ping.number, lastPingAtMs: isSeen ? ping.at.getTime() : moved.lastPingAtMs },
    },
    pings: [...pings, ping],
    change: judged?.mustStore ? changeAfter(change, watch, judged) : change,
  }
}

/** New, resumed, or a heartbeat only now: what was before counts no more, and nothing is waited for. */
const startAnew = (heartbeat: Heartbeat): Heartbeat => ({ ...heartbeat, runStartedAtMs: null, dueAtMs: null })

/** The clocks of several processes may differ a little: no ping is older than the one before it. */
function pingAfter({ monitor, state }: Watch, heartbeat: Heartbeat, content: Content, receivedAtMs: number): Ping {
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

type Judged = { state: MonitorState; transition: Transition | null; mustStore: boolean }

/** A start is stored for a monitor that begins with it, so that its success is waited for. */
function judgePing({ monitor, state }: Watch, ping: Ping): Judged {
  const said = saidBy(ping)
  if (said === null) {
    const begun = state ?? newMonitorState(monitor.id, monitor.configVersion)
    return { state: begun, transition: null, mustStore: state === null }
  }
  const decision = decideAlone(HEARTBEAT_REGION, voterOf(monitor), state, said)
  // pings are not read again after a restart
  return { ...decision, mustStore: decision.store !== 'no' || state === null }
}

/**
 * A success is waited for from the success before on, or from the first start. A later start does not hasten it: a job
 * may run for as long as its interval and grace allow.
 */
function after(heartbeat: Heartbeat, { monitor }: Watch, ping: Ping, state: MonitorState): Heartbeat {
  const atMs = ping.at.getTime()
  const dueAtMs = atMs + allowedMs(monitor)!
  if (ping.kind === 'success') return { ...heartbeat, lastSuccessAtMs: atMs, runStartedAtMs: null, dueAtMs }
  if (ping.kind === 'fail') return { ...heartbeat, runStartedAtMs: null, dueAtMs: null }
  if (ping.kind === 'overdue') return { ...heartbeat, dueAtMs: null }
  const isWaiting = state.status !== 'down'
  return { ...heartbeat, runStartedAtMs: atMs, dueAtMs: isWaiting ? (heartbeat.dueAtMs ?? dueAtMs) : null }
}

function changeAfter(change: Change | null, { monitor }: Watch, { state, transition }: Judged): Change {
  const transitions = [...(change?.transitions ?? []), ...(transition === null ? [] : [transition])]
  return { monitorId: monitor.id, configVersion: monitor.configVersion, state, transitions }
}
