import type { RunNow } from '../proto/gen/probe/v1/fleet.ts'
import { type Result, type RunRefusal, Trigger } from '../shared/result.ts'
import type { FleetClock } from './fleet-clock.ts'
import type { Loop } from './loop.ts'
import { refusedResult, type Subject } from './observed.ts'
import type { Watches } from './watches.ts'

export type RunNowParts = {
  loop: Loop
  watches: Watches
  clock: FleetClock
  answer: (runId: string, result: Result) => void
}

/**
 * A check asked for outside the schedule. A monitor of ours starts a chain: it is published, so it counts for the
 * verdict, and answered to whom `run_id` names. While a chain runs, a person gets an attempt of their own that is not
 * published, and a second opinion nothing more: the chain is that opinion. A request with its own `spec` is only answered.
 */
export function createRunNow({ loop, watches, clock, answer }: RunNowParts): (request: RunNow) => void {
  function subjectOf({ monitorId }: RunNow): Subject {
    const configVersion = watches.get(monitorId)?.assignment.configVersion ?? 0
    return { monitorId, configVersion, epoch: loop.epoch() }
  }

  function reply(request: RunNow, result: Result): void {
    if (request.runId !== '') answer(request.runId, result)
  }

  function refuse(request: RunNow, code: RunRefusal, message: string): void {
    const result = refusedResult(subjectOf(request), clock.nowMs() ?? 0, code, message)
    reply(request, { ...result, runId: request.runId, trigger: request.trigger })
  }

  return request => {
    const { runId, trigger, scheduledAtMs } = request
    const watch = watches.get(request.monitorId)
    const spec = request.spec ?? watch?.assignment.spec
    const now = clock.nowMs()
    if (!spec) {
      refuse(request, 'not_assigned', 'this probe does not check the monitor')
    } else if (now === null) {
      refuse(request, 'probe_not_ready', 'the probe does not know the time yet')
    } else if (watch && !watch.chain && !request.spec && !loop.isDraining()) {
      loop.startChain(watch, trigger, runId, scheduledAtMs)
    } else if (request.spec || trigger !== Trigger.SECOND_OPINION) {
      const occasion = { scheduledAtMs: scheduledAtMs || now, attempt: 1, trigger, runId }
      const hasPlace = loop.checkAside(spec, subjectOf(request), occasion, result => reply(request, result))
      if (!hasPlace) refuse(request, 'probe_busy', 'the probe is stopping or runs as many checks as it may')
    }
  }
}
