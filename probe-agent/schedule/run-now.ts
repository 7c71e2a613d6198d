import type { RunNow } from '../../proto/gen/probe/v1/fleet.ts'
import type { CheckSpec } from '../../shared/checks/check.ts'
import { type Result, type RunRefusal, Trigger } from '../../shared/checks/result.ts'
import type { RemoteClock } from '../../shared/process/remote-clock.ts'
import { buildRefusedResult, type ResultSubject } from '../execution/result-builder.ts'
import type { AssignedMonitors } from './assigned-monitors.ts'
import type { CheckLoop } from './loop.ts'

type RunNowOptions = {
  loop: CheckLoop
  monitors: AssignedMonitors
  clock: RemoteClock
  answer: (runId: string, result: Result) => void
}

/**
 * Handles checks on demand (docs/design/probes.md#on-demand). For an assigned monitor a chain starts: it is published and
 * counts for the verdict, and its first result answers `run_id`. While a chain runs, the next attempt answers, so the target
 * gets no additional connection; a second opinion starts nothing, because the chain is that opinion. A request with its own
 * `spec` is only answered, and its tenant is limited to its share of permits.
 */
export function createRunNowHandler({ loop, monitors, clock, answer }: RunNowOptions): (request: RunNow) => void {
  function getSubject({ monitorId }: RunNow): ResultSubject {
    const configVersion = monitors.get(monitorId)?.assignment.configVersion ?? 0
    return { monitorId, configVersion, epoch: loop.epoch() }
  }

  function reply(request: RunNow, result: Result): void {
    if (request.runId !== '') answer(request.runId, result)
  }

  function refuse(request: RunNow, code: RunRefusal, message: string): void {
    const result = buildRefusedResult(getSubject(request), clock.nowMs() ?? 0, code, message)
    reply(request, { ...result, runId: request.runId, trigger: request.trigger })
  }

  /** Runs one attempt outside any chain. */
  function checkOutOfBand(request: RunNow, spec: CheckSpec, nowMs: number): void {
    const { runId, trigger, scheduledAtMs, tenant } = request
    const occasion = { scheduledAtMs: scheduledAtMs || nowMs, attempt: 1, trigger, runId }
    const checkRequest = { subject: getSubject(request), occasion, isOfOthers: true }
    const hasPermit = loop.checkOutOfBand(spec, checkRequest, tenant ?? 0, result => reply(request, result))
    if (!hasPermit) refuse(request, 'probe_busy', 'the probe is stopping, or its limit of concurrent checks is reached')
  }

  return request => {
    const { runId, trigger, scheduledAtMs, spec } = request
    const monitor = monitors.get(request.monitorId)
    const now = clock.nowMs()
    if (now === null)
      return refuse(request, 'probe_not_ready', 'the probe has not received the time of the control plane yet')
    if (spec) return checkOutOfBand(request, spec, now)
    if (!monitor) return refuse(request, 'not_assigned', 'the monitor is not assigned to this probe')
    if (monitor.chain && trigger === Trigger.SECOND_OPINION) return
    if (loop.isLeaving()) return refuse(request, 'probe_busy', 'the probe is stopping')
    if (!monitor.chain) return loop.startChain(monitor, trigger, runId, scheduledAtMs)
    if (!loop.joinChain(monitor, trigger, runId))
      refuse(request, 'probe_busy', 'too many requests wait for a check of this monitor')
  }
}
