import type { RunNow } from '../../proto/gen/probe/v1/fleet.ts'
import type { CheckSpec } from '../../shared/checks/check.ts'
import { type Result, type RunRefusal, Trigger } from '../../shared/checks/result.ts'
import type { RemoteClock } from '../../shared/process/remote-clock.ts'
import { buildRefusedResult, type CheckOccasion, type ResultSubject } from '../execution/result-builder.ts'
import { applyComparison } from '../screenshots/should-capture.ts'
import type { AssignedMonitor, AssignedMonitors, RecheckChain } from './assigned-monitors.ts'
import { resolveOutOfBandTime } from './check-times.ts'
import type { CheckLoop } from './loop.ts'

export type RunNowOptions = {
  loop: CheckLoop
  watches: AssignedMonitors
  clock: RemoteClock
  publish: (result: Result) => void
  answer: (runId: string, result: Result) => void
}

/**
 * A check asked for outside the schedule. A monitor of ours starts a chain: it is published, so it counts for the
 * verdict, and answered to whom `run_id` names; so is one that is just about to begin. While a chain runs, a person gets
 * an attempt of their own, published for the history alone, and a second opinion nothing more: the chain is that opinion.
 * A request with its own `spec` is only answered; its tenant gets no more than its share of the places.
 */
export function createRunNowHandler({
  loop,
  watches,
  clock,
  publish,
  answer,
}: RunNowOptions): (request: RunNow) => void {
  function subjectOf({ monitorId }: RunNow): ResultSubject {
    const configVersion = watches.get(monitorId)?.assignment.configVersion ?? 0
    return { monitorId, configVersion, epoch: loop.epoch() }
  }

  function reply(request: RunNow, result: Result): void {
    if (request.runId !== '') answer(request.runId, result)
  }

  function refuse(request: RunNow, code: RunRefusal, message: string): void {
    const result = buildRefusedResult(subjectOf(request), clock.nowMs() ?? 0, code, message)
    reply(request, { ...result, runId: request.runId, trigger: request.trigger })
  }

  /** One attempt on the side, of which `take` hears. */
  function checkAside(request: RunNow, spec: CheckSpec, occasion: CheckOccasion, take: (result: Result) => void): void {
    const asked = { subject: subjectOf(request), occasion, isOfOthers: request.spec !== undefined }
    const hasPlace = loop.checkOutOfBand(spec, asked, request.tenant ?? 0, take)
    if (!hasPlace) refuse(request, 'probe_busy', 'the probe is stopping or runs as many checks as it may')
  }

  /** A person who asks while a chain runs finds the attempt in the history; it is no part of the chain. */
  function checkBeside(watch: AssignedMonitor, chain: RecheckChain, request: RunNow, askedForMs: number): void {
    watch.lastOutOfBandMs = resolveOutOfBandTime(watch, chain, askedForMs)
    const occasion = { scheduledAtMs: watch.lastOutOfBandMs, attempt: 1, trigger: Trigger.ASIDE, runId: request.runId }
    checkAside(request, watch.assignment.spec!, occasion, seen => {
      const result = applyComparison(watch.assignment, seen)
      publish(result)
      reply(request, result)
    })
  }

  return request => {
    const { runId, trigger, scheduledAtMs, spec } = request
    const watch = watches.get(request.monitorId)
    const now = clock.nowMs()
    if (now === null) return refuse(request, 'probe_not_ready', 'the probe does not know the time yet')
    if (spec) {
      const occasion = { scheduledAtMs: scheduledAtMs || now, attempt: 1, trigger, runId }
      return checkAside(request, spec, occasion, result => reply(request, result))
    }
    if (!watch) return refuse(request, 'not_assigned', 'this probe does not check the monitor')
    if (!watch.chain || watch.chain.isDecided) {
      if (loop.isLeaving()) return refuse(request, 'probe_busy', 'the probe is stopping')
      return loop.startChain(watch, trigger, runId, scheduledAtMs)
    }
    if (trigger === Trigger.SECOND_OPINION || loop.joinChain(watch, trigger, runId)) return
    checkBeside(watch, watch.chain, request, scheduledAtMs || now)
  }
}
