import type { RunNow } from '../../proto/gen/probe/v1/fleet.ts'
import type { CheckSpec } from '../../shared/checks/check.ts'
import { type Result, type RunRefusal, Trigger } from '../../shared/checks/result.ts'
import type { RemoteClock } from '../../shared/process/remote-clock.ts'
import { buildRefusedResult, type CheckOccasion, type ResultSubject } from '../execution/result-builder.ts'
import { applyComparison } from '../screenshots/should-capture.ts'
import type { AssignedMonitor, AssignedMonitors, RecheckChain } from './assigned-monitors.ts'
import { resolveOutOfBandTime } from './check-times.ts'
import type { CheckLoop } from './loop.ts'

type RunNowOptions = {
  loop: CheckLoop
  monitors: AssignedMonitors
  clock: RemoteClock
  publish: (result: Result) => void
  answer: (runId: string, result: Result) => void
}

/**
 * Handles checks on demand (docs/design/probes.md#on-demand). For an assigned monitor a chain starts, or joins one that has
 * not begun: it is published and counts for the verdict, and its first result answers `run_id`. While a chain runs, a
 * person's request is a separate attempt, published for the history only, and a second opinion starts nothing, because the
 * chain is that opinion. A request with its own `spec` is only answered, and its tenant is limited to its share of permits.
 */
export function createRunNowHandler({
  loop,
  monitors,
  clock,
  publish,
  answer,
}: RunNowOptions): (request: RunNow) => void {
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

  /** Runs one attempt outside any chain and passes the result to `take`. */
  function checkOutOfBand(
    request: RunNow,
    spec: CheckSpec,
    occasion: CheckOccasion,
    take: (result: Result) => void,
  ): void {
    const checkRequest = { subject: getSubject(request), occasion, isOfOthers: request.spec !== undefined }
    const hasPermit = loop.checkOutOfBand(spec, checkRequest, request.tenant ?? 0, take)
    if (!hasPermit) refuse(request, 'probe_busy', 'the probe is stopping, or its limit of concurrent checks is reached')
  }

  /** A person's request while a chain runs: a separate attempt for the history. */
  function checkDuringChain(monitor: AssignedMonitor, chain: RecheckChain, request: RunNow, requestedMs: number): void {
    monitor.lastOutOfBandMs = resolveOutOfBandTime(monitor, chain, requestedMs)
    const occasion = {
      scheduledAtMs: monitor.lastOutOfBandMs,
      attempt: 1,
      trigger: Trigger.ASIDE,
      runId: request.runId,
    }
    checkOutOfBand(request, monitor.assignment.spec!, occasion, checked => {
      const result = applyComparison(monitor.assignment, checked)
      publish(result)
      reply(request, result)
    })
  }

  return request => {
    const { runId, trigger, scheduledAtMs, spec } = request
    const monitor = monitors.get(request.monitorId)
    const now = clock.nowMs()
    if (now === null)
      return refuse(request, 'probe_not_ready', 'the probe has not received the time of the control plane yet')
    if (spec) {
      const occasion = { scheduledAtMs: scheduledAtMs || now, attempt: 1, trigger, runId }
      return checkOutOfBand(request, spec, occasion, result => reply(request, result))
    }
    if (!monitor) return refuse(request, 'not_assigned', 'the monitor is not assigned to this probe')
    if (!monitor.chain) {
      if (loop.isLeaving()) return refuse(request, 'probe_busy', 'the probe is stopping')
      return loop.startChain(monitor, trigger, runId, scheduledAtMs)
    }
    if (trigger === Trigger.SECOND_OPINION || loop.joinChain(monitor, trigger, runId)) return
    checkDuringChain(monitor, monitor.chain, request, scheduledAtMs || now)
  }
}
