import { computeMaxChainMs } from '../../shared/checks/rechecks.ts'
import { type RunRefusal, Trigger } from '../../shared/checks/result.ts'
import { buildRefusedResult } from '../execution/result-builder.ts'
import { type AssignedMonitor, createRecheckChain } from './assigned-monitors.ts'
import { resolveChainTime, shiftTimes } from './check-times.ts'
import { type CheckLoopState, getSubject, setDue } from './loop-state.ts'
import { findFirstDue } from './slots.ts'

const NO_REQUESTER = { trigger: Trigger.SLOT, runId: '' }

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

/** Assigns a request to a chain that has not begun (see `CheckLoop`). */
export function joinChain(monitor: AssignedMonitor, trigger: Trigger, runId: string): boolean {
  const mayJoin = isChainQueued(monitor) && monitor.chain!.runId === ''
  if (mayJoin) Object.assign(monitor.chain!, { trigger, runId })
  return mayJoin
}

/** Whether a chain is queued that has not begun, as after a change of the monitor. */
function isChainQueued({ heapIndex, chain }: AssignedMonitor): boolean {
  return heapIndex >= 0 && chain !== null && chain.attempts.length === 0
}

/** Removes a monitor from the queue, and refuses the request of a chain that has not begun. */
export function removeFromQueue(
  loop: CheckLoopState,
  monitor: AssignedMonitor,
  code: RunRefusal,
  message: string,
): void {
  const { trigger, runId } = isChainQueued(monitor) ? monitor.chain! : NO_REQUESTER
  loop.queue.remove(monitor)
  if (runId === '') return
  const refused = buildRefusedResult(getSubject(loop, monitor), loop.clock.nowMs() ?? 0, code, message)
  loop.answer(runId, { ...refused, trigger, runId })
}

/**
 * Adapts a monitor after the clock was set. Everything due stays due at the same moment; later slots are those of the new
 * time.
 */
export function shiftDueTime({ queue }: CheckLoopState, monitor: AssignedMonitor, movedMs: number, now: number): void {
  if (monitor.heapIndex >= 0) queue.put(monitor, Math.round(monitor.dueMs + movedMs))
  shiftTimes(monitor, movedMs, now)
}
