import { computeMaxChainMs } from '../../shared/checks/rechecks.ts'
import { type RunRefusal, Trigger } from '../../shared/checks/result.ts'
import { buildRefusedResult } from '../execution/result-builder.ts'
import { type AssignedMonitor, type ChainRequest, createRecheckChain, type RecheckChain } from './assigned-monitors.ts'
import { resolveChainTime, shiftTimes } from './check-times.ts'
import { type CheckLoopState, getSubject, setDue } from './loop-state.ts'
import { findFirstDue } from './slots.ts'

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

/** Assigns a request to a chain (see `CheckLoop`). */
export function joinChain(chain: RecheckChain, trigger: Trigger, runId: string): void {
  const { attempts } = chain
  if (attempts.length === 0 && chain.runId === '') Object.assign(chain, { trigger, runId })
  const isInFlight = attempts.at(-1)?.result === null
  chain.requests.push({ runId, fromAttempt: isInFlight ? attempts.length : attempts.length + 1 })
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
  if (!chain) return
  const isRefused = ({ fromAttempt }: ChainRequest) => fromAttempt > chain.attempts.length
  const refused = chain.requests.filter(isRefused)
  chain.requests = chain.requests.filter(request => !isRefused(request))
  for (const { runId } of refused) {
    const result = buildRefusedResult(getSubject(loop, monitor), loop.clock.nowMs() ?? 0, code, message)
    loop.answer(runId, { ...result, trigger: chain.trigger, runId })
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
