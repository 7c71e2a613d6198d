import type { CheckSpec } from '../../shared/checks/check.ts'
import type { Result } from '../../shared/checks/result.ts'
import type { Log } from '../../shared/process/log.ts'
import type { RemoteClock } from '../../shared/process/remote-clock.ts'
import type { Timers } from '../clock.ts'
import { buildResult, type ResultSubject } from '../execution/result-builder.ts'
import type { CheckExecution, CheckRunOptions } from '../execution/run-check.ts'
import type { RecheckChainEnd } from '../screenshots/should-capture.ts'
import type { AssignedMonitor, AssignedMonitors } from './assigned-monitors.ts'
import type { CheckPermit, CheckPermits } from './check-permits.ts'
import type { FairQueue } from './queue/fair-queue.ts'
import type { WakeUpTimer } from './queue/wake-up-timer.ts'
import type { CheckRequest, RecheckAttempts } from './rechecks/attempts.ts'

export type CheckLoopOptions = {
  monitors: AssignedMonitors
  clock: RemoteClock
  /** never rejects */
  run: (spec: CheckSpec, options: CheckRunOptions) => Promise<CheckExecution>
  publish: (result: Result) => void
  /** sends a result as the answer to a RunNow */
  answer: (runId: string, result: Result) => void
  /** called after the last attempt of a chain is published */
  onChainEnd?: (monitor: AssignedMonitor, end: RecheckChainEnd) => void
  /** called when the first attempt of a chain is silent and the region is not failing */
  onSilent?: (monitor: AssignedMonitor) => void
  maxConcurrentChecks: number
  log: Log
  /** default: those of the machine */
  timers?: Timers
}

/** What the functions of the check loop share: its parts and its state. */
export type CheckLoopState = Required<Omit<CheckLoopOptions, 'onChainEnd' | 'onSilent' | 'maxConcurrentChecks'>> & {
  queue: FairQueue<AssignedMonitor>
  permits: CheckPermits
  wakeUpTimer: WakeUpTimer
  attempts: RecheckAttempts
  /** the assignment epoch of results */
  epoch: number
  /** checks on demand are refused */
  isLeaving: boolean
  /** no check starts */
  isDraining: boolean
  /** the time of the control plane is known, and the monitors that were assigned before are queued */
  hasTime: boolean
  /** the maximum delay of a slot since the last report */
  startDelayMs: number
  /** called while draining, when the last check has ended */
  whenIdle: () => void
}

/** Returns the subject of a result that is made now, with the current epoch. */
export function getSubject({ epoch }: CheckLoopState, { assignment }: AssignedMonitor): ResultSubject {
  return { monitorId: assignment.monitorId, configVersion: assignment.configVersion, epoch }
}

/** Makes a monitor due at `dueMs`. */
export function setDue({ wakeUpTimer, clock }: CheckLoopState, monitor: AssignedMonitor, dueMs: number): void {
  wakeUpTimer.put(monitor, dueMs, clock.nowMs())
}

/** Runs a check, releases its permit and passes the result to `take`. */
export function startCheck(
  loop: CheckLoopState,
  permit: CheckPermit,
  spec: CheckSpec,
  asked: CheckRequest,
  take: (result: Result) => void,
): void {
  const { subject, occasion, cancellation, isOfOthers } = asked
  const startedAtMs = loop.clock.nowMs() ?? 0
  void loop.run(spec, { cancellation, isOfOthers, tenant: permit.tenant }).then(ran => {
    loop.permits.release(permit)
    take(buildResult(subject, occasion, startedAtMs, ran))
    if (loop.isDraining && loop.permits.countHeld() === 0) loop.whenIdle()
  })
}
