import { computeMaxChainMs } from '../../shared/checks/rechecks.ts'
import { type RunRefusal, Trigger } from '../../shared/checks/result.ts'
import { buildRefusedResult } from '../execution/result-builder.ts'
import { type AssignedMonitor, type ChainRequest, createRecheckChain } from './assigned-monitors.ts'
import { resolveChainTime, shiftTimes } from './check-times.ts'
import { type CheckLoopState, getSubject, setDue } from './loop-state.ts'
import { findFirstDue } from './slots.ts'

/** Requests that wait for the results of one chain. */
const MAX_REQUESTS = 100
/** After the timeout and this time, the newest result is the answer. The API waits for the timeout plus 5 s. */
const ANSWER_MARGIN_MS = 3_000

/**
 * Queues a monitor that was assigned: now when a check was requested with the assignment, otherwise at its next slot, or
 * sooner if the last one may have been lost.
 */
export function enqueue(loop: CheckLoopState, monitor: AssignedMonitor, now: number): void {
  if (monitor.assignment.checkAtOnce) startChain(loop, monitor, Trigger.SLOT, '', now)
  else setDue(loop, monitor, findFirstDue(monitor.slots, computeChainMs(monitor), now))
}

const computeChainMs = ({ assignment: { spec, retryCount } }: AssignedMonitor): number =>
  computeMaxChainMs(spec!.timeoutMs, retryCount)

/** Starts a chain outside the schedule (see `CheckLoop`). */
export function startChain(
  loop: CheckLoopState,
  monitor: AssignedMonitor,
  trigger: Trigger,
  runId: string,
  requestedMs: number,
): void {
  const now = Math.floor(loop.clock.nowMs() ?? 0)
  monitor.chain = createRecheckChain(
    monitor,
    loop.timers.monotonicMs(),
    resolveChainTime(monitor, requestedMs, now),
    trigger,
    runId,
  )
  setDue(loop, monitor, now)
}

/** Adds a request to the chain of a monitor (see `CheckLoop`). */
export function joinChain(loop: CheckLoopState, monitor: AssignedMonitor, trigger: Trigger, runId: string): boolean {
  const { timers } = loop
  const chain = monitor.chain!
  if (chain.requests.some(request => request.runId === runId)) return true
  if (chain.requests.length === MAX_REQUESTS) return false
  if (chain.attempts.length === 0 && chain.runId === '') Object.assign(chain, { trigger, runId })
  const request: ChainRequest = {
    ...{ runId, trigger },
    askedMs: timers.monotonicMs(),
    fromAttempt: chain.attempts.length + 1,
    earlier: null,
    cancelTimer: timers.after(monitor.assignment.spec!.timeoutMs + ANSWER_MARGIN_MS, () => {
      const current = monitor.chain!
      const newest = request.earlier ?? current.last
      // without any result, the next one answers, also that of an attempt that has started
      if (newest === null) {
        request.fromAttempt = 1
        return
      }
      current.requests = current.requests.filter(other => other !== request)
      loop.answer(runId, { ...newest, runId })
    }),
  }
  chain.requests.push(request)
  return true
}

/** Starts a chain for requests that the chain before has not answered. */
export function startRequestedChain(
  loop: CheckLoopState,
  monitor: AssignedMonitor,
  requests: readonly ChainRequest[],
): void {
  startChain(loop, monitor, Trigger.RUN_NOW, requests[0]!.runId, 0)
  monitor.chain!.requests = requests.map(request => Object.assign(request, { fromAttempt: 1 }))
}

/** Removes a monitor from the queue, and refuses the requests that wait for an attempt that has not started. */
export function removeFromQueue(
  loop: CheckLoopState,
  monitor: AssignedMonitor,
  code: RunRefusal,
  message: string,
): void {
  const { chain } = monitor
  loop.queue.remove(monitor)
  if (chain) refuse(loop, monitor, ({ fromAttempt }) => fromAttempt > chain.attempts.length, code, message)
}

/** Ends the attempts of a monitor that was replaced, so that the target gets no more connections than those of its successor. */
export function abandonChain(loop: CheckLoopState, monitor: AssignedMonitor): void {
  const chain = monitor.chain!
  chain.isOver = true
  for (const { result, cancellation } of chain.attempts) if (!result) cancellation.cancel()
  refuse(loop, monitor, () => true, 'not_assigned', 'the monitor was changed')
}

function refuse(
  loop: CheckLoopState,
  monitor: AssignedMonitor,
  isRefused: (request: ChainRequest) => boolean,
  code: RunRefusal,
  message: string,
): void {
  const chain = monitor.chain!
  const refused = chain.requests.filter(isRefused)
  chain.requests = chain.requests.filter(request => !isRefused(request))
  for (const { runId, trigger, cancelTimer } of refused) {
    cancelTimer()
    const result = buildRefusedResult(getSubject(loop, monitor), loop.clock.nowMs() ?? 0, code, message)
    loop.answer(runId, { ...result, trigger, runId })
  }
}

/**
 * Adapts a monitor after the clock was set. Everything due stays due at the same moment; later slots are those of the new
 * time.
 */
export function shiftDueTime({ queue }: CheckLoopState, monitor: AssignedMonitor, movedMs: number, now: number): void {
  if (monitor.heapIndex >= 0) queue.put(monitor, Math.round(monitor.dueMs + movedMs))
  shiftTimes(monitor, movedMs, now)
}
