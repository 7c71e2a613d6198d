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

/** Replies to requests, and runs single attempts for them. */
type RunNowReplies = {
  reply: (request: RunNow, result: Result) => void
  refuse: (request: RunNow, code: RunRefusal, message: string) => void
  refuseBusy: (request: RunNow) => void
  /** Runs one attempt outside any chain and passes the result to `take`. False: no permit is available. */
  checkOutOfBand: (request: RunNow, spec: CheckSpec, occasion: CheckOccasion, take: (result: Result) => void) => boolean
}

/**
 * Handles checks on demand (docs/design/probes.md#on-demand). For an assigned monitor a chain starts, or joins one that has
 * not begun: it is published and counts for the verdict, and its first result answers `run_id`. While a chain runs, a
 * person's request is a separate attempt, published for the history only, and a second opinion starts nothing, because the
 * chain is that opinion. A request with its own `spec` is only answered, and its tenant is limited to its share of permits.
 */
export function createRunNowHandler(options: RunNowOptions): (request: RunNow) => void {
  const { loop, monitors, clock } = options
  const replies = createReplies(options)
  const { reply, refuse, refuseBusy, checkOutOfBand } = replies
  const checkDuringChain = createSeparateAttempts(options, replies)

  return request => {
    const { runId, trigger, scheduledAtMs, spec } = request
    const monitor = monitors.get(request.monitorId)
    const now = clock.nowMs()
    if (now === null)
      return refuse(request, 'probe_not_ready', 'the probe has not received the time of the control plane yet')
    if (spec) {
      const occasion = { scheduledAtMs: scheduledAtMs || now, attempt: 1, trigger, runId }
      if (!checkOutOfBand(request, spec, occasion, result => reply(request, result))) refuseBusy(request)
      return
    }
    if (!monitor) return refuse(request, 'not_assigned', 'the monitor is not assigned to this probe')
    if (!monitor.chain) {
      if (loop.isLeaving()) return refuse(request, 'probe_busy', 'the probe is stopping')
      return loop.startChain(monitor, trigger, runId, scheduledAtMs)
    }
    if (trigger === Trigger.SECOND_OPINION || loop.joinChain(monitor, trigger, runId)) return
    checkDuringChain(monitor, monitor.chain, request)
  }
}

function createReplies({ loop, monitors, clock, answer }: RunNowOptions): RunNowReplies {
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

  return {
    reply,
    refuse,
    refuseBusy: request =>
      refuse(request, 'probe_busy', 'the probe is stopping, or its limit of concurrent checks is reached'),
    checkOutOfBand(request, spec, occasion, take) {
      const checkRequest = { subject: getSubject(request), occasion, isOfOthers: request.spec !== undefined }
      return loop.checkOutOfBand(spec, checkRequest, request.tenant ?? 0, take)
    },
  }
}

type WaitingRequest = { request: RunNow; sinceMs: number }

/** The control plane waits for the timeout of a check and 5 s more, so a request that has waited longer than this gets no other attempt. */
const MAX_SHARED_WAIT_MS = 3_000

/**
 * Runs attempts for the history, for requests of people while a chain runs. A monitor has one at a time, so that requests
 * add one connection at most to a target that hangs. Those that arrive meanwhile share the next one; those that have waited
 * too long for it get the result of this one.
 */
function createSeparateAttempts(
  { loop, clock, publish }: RunNowOptions,
  { reply, refuse, refuseBusy, checkOutOfBand }: RunNowReplies,
): (monitor: AssignedMonitor, chain: RecheckChain, request: RunNow) => void {
  /** The requests that wait for the end of an attempt, for each monitor that has one now. */
  const waiting = new Map<AssignedMonitor, WaitingRequest[]>()

  function check(monitor: AssignedMonitor, chain: RecheckChain, requests: readonly RunNow[]): void {
    const first = requests[0]!
    const requestedMs = Math.max(...requests.map(({ scheduledAtMs }) => scheduledAtMs || (clock.nowMs() ?? 0)))
    monitor.lastOutOfBandMs = resolveOutOfBandTime(monitor, monitor.chain ?? chain, requestedMs)
    const about = { attempt: 1, trigger: Trigger.ASIDE, runId: first.runId }
    const occasion = { ...about, scheduledAtMs: monitor.lastOutOfBandMs }
    waiting.set(monitor, [])
    const isRunning = checkOutOfBand(first, monitor.assignment.spec!, occasion, checked => {
      const result = applyComparison(monitor.assignment, checked)
      publish(result)
      const [late, next] = endWaiting(monitor)
      for (const request of [...requests, ...late]) reply(request, { ...result, runId: request.runId })
      if (next.length > 0 && !monitor.isRetired) check(monitor, chain, next)
      else
        for (const request of next) refuse(request, 'not_assigned', 'the monitor was changed or moved to another probe')
    })
    if (isRunning) return
    waiting.delete(monitor)
    for (const request of requests) refuseBusy(request)
  }

  /** The requests that have waited for an attempt: those that cannot wait for another one, and those that can. */
  function endWaiting(monitor: AssignedMonitor): [late: RunNow[], next: RunNow[]] {
    const requests = waiting.get(monitor) ?? []
    waiting.delete(monitor)
    const nowMs = clock.nowMs() ?? Number.POSITIVE_INFINITY
    const isLate = ({ sinceMs }: WaitingRequest) => nowMs - sinceMs > MAX_SHARED_WAIT_MS
    return [requests.filter(isLate), requests.filter(one => !isLate(one))].map(some =>
      some.map(({ request }) => request),
    ) as [RunNow[], RunNow[]]
  }

  return (monitor, chain, request) => {
    if (loop.isLeaving()) return refuseBusy(request)
    const others = waiting.get(monitor)
    if (others) others.push({ request, sinceMs: clock.nowMs() ?? 0 })
    else check(monitor, chain, [request])
  }
}
