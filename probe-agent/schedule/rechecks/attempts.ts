import { RegionState } from '../../../proto/gen/probe/v1/fleet.ts'
import type { CheckSpec } from '../../../shared/checks/check.ts'
import { DOUBT_RECHECK_DELAY_MS } from '../../../shared/checks/rechecks.ts'
import { Outcome, type Result, Trigger } from '../../../shared/checks/result.ts'
import { type Cancellation, createCancellation } from '../../../shared/egress/index.ts'
import type { Timers } from '../../clock.ts'
import { buildCancelledResult, type CheckOccasion, type ResultSubject } from '../../execution/result-builder.ts'
import { applyComparison, type RecheckChainEnd } from '../../screenshots/should-capture.ts'
import type { AssignedMonitor, Attempt, ChainRequest, RecheckChain } from '../assigned-monitors.ts'
import type { CheckPermit } from '../check-permits.ts'
import { computeProgress, type RecheckProgress } from './recheck.ts'
import { computeSilenceLimitMs, recordResponseTime } from './silence-limit.ts'

type AttemptsContext = {
  timers: Pick<Timers, 'monotonicMs'>
  /** Runs one check with a permit, releases the permit and passes the result to `take`. */
  check: (permit: CheckPermit, spec: CheckSpec, asked: CheckRequest, take: (result: Result) => void) => void
  getSubject: (monitor: AssignedMonitor) => ResultSubject
  publish: (result: Result) => void
  /** sends a result as the answer to a RunNow */
  answer: (runId: string, result: Result) => void
  /** called when the first attempt of a chain reaches the silence limit and the region is not failing */
  onSilent: (monitor: AssignedMonitor) => void
  /** whether a chain may be started on demand */
  mayStartRequestedChain: () => boolean
  /** Starts a chain for requests that no attempt of the chain before has answered. */
  startRequestedChain: (monitor: AssignedMonitor, requests: readonly ChainRequest[]) => void
  /** Makes the monitor due after `ms`; null: not before an attempt has ended. */
  wakeIn: (monitor: AssignedMonitor, ms: number | null) => void
  /** Makes the monitor due at its next slot, or after `latestMs` if that is earlier. */
  wakeAtSlot: (monitor: AssignedMonitor, latestMs?: number) => void
  /** called after the last attempt of a chain is published */
  onChainEnd?: (monitor: AssignedMonitor, end: RecheckChainEnd) => void
}

/** `isOfOthers`: a check of a monitor that is not assigned to this probe. */
export type CheckRequest = {
  subject: ResultSubject
  occasion: CheckOccasion
  cancellation?: Cancellation
  isOfOthers?: boolean
}

/** Maximum wait for the next check of a pending region, whose checks so far were `unknown`. */
const FIRST_STATE_MS = 30_000
/** Maximum wait after a chain that ended with `unknown`. It doubles with each further one. */
const UNKNOWN_RECHECK_MS = 60_000

/**
 * Runs the chains of the monitors: attempts that overlap when the target is silent, published in their order
 * (docs/design/probes.md#attempts). The conclusion of a chain is stored with its monitor.
 */
export type RecheckAttempts = {
  /** Starts the next attempt of the monitor's chain. */
  start: (monitor: AssignedMonitor, chain: RecheckChain, permit: CheckPermit) => void
  /**
   * Decides what to do for a monitor that is due: begin a chain, start the next attempt, or nothing until an attempt has
   * ended.
   */
  decideWhenDue: (monitor: AssignedMonitor) => 'begin' | 'attempt' | 'nothing'
}

export function createRecheckAttempts(context: AttemptsContext): RecheckAttempts {
  return {
    start: (monitor, chain, permit) => startAttempt(context, monitor, chain, permit),
    decideWhenDue: monitor => decideWhenDue(context, monitor),
  }
}

function startAttempt(
  context: AttemptsContext,
  monitor: AssignedMonitor,
  chain: RecheckChain,
  permit: CheckPermit,
): void {
  const number = chain.attempts.length + 1
  const runId = number === 1 ? chain.runId : ''
  const { scheduledAtMs, trigger } = chain
  const occasion = { scheduledAtMs, trigger, runId, attempt: number }
  const cancellation = createCancellation()
  const attempt: Attempt = {
    startedMs: context.timers.monotonicMs(),
    endedMs: 0,
    result: null,
    isCancelled: false,
    cancellation,
  }
  chain.attempts.push(attempt)
  scheduleNext(context, monitor, chain, progressOfChain(monitor, chain))
  const asked = { subject: context.getSubject(monitor), occasion, cancellation }
  context.check(permit, monitor.assignment.spec!, asked, checked => {
    takeResult(context, monitor, chain, attempt, checked)
  })
}

/** Records the result of an attempt, publishes what is final, and schedules the next attempt or the next slot. */
function takeResult(
  context: AttemptsContext,
  monitor: AssignedMonitor,
  chain: RecheckChain,
  attempt: Attempt,
  checked: Result,
): void {
  if (chain.isOver) return
  attempt.endedMs = context.timers.monotonicMs()
  attempt.result = applyComparison(monitor.assignment, checked)
  if (isAnswer(checked))
    recordResponseTime(monitor.responseTimes, monitor.assignment.spec!.timeoutMs, checked.totalUs / 1000)
  const progress = progressOfChain(monitor, chain)
  if (progress.kind === 'over') cancelEarlier(chain, attempt)
  settle(context, chain, progress.settled)
  if (progress.kind !== 'over') {
    scheduleNext(context, monitor, chain, progress)
    return
  }
  end(context, monitor, chain, progress.state)
  if (!monitor.isRetired) {
    monitor.unknownChains = countUnknownChains(monitor, chain, checked)
    context.wakeAtSlot(monitor, getMaxWaitMs(monitor, progress.state, checked))
  }
  passRequests(context, monitor, chain)
}

const progressOfChain = (monitor: AssignedMonitor, { state, attempts }: RecheckChain) =>
  computeProgress(state, monitor.assignment.retryCount, attempts.map(getOutcome))

/**
 * Cancels the attempts that are still silent when a later one ends the chain. Their results say so and do not vote. The
 * silence does not count as a response time: it may also be the end of an outage, and the next one would be noticed later.
 */
function cancelEarlier({ attempts }: RecheckChain, last: Attempt): void {
  for (const [i, attempt] of attempts.slice(0, attempts.indexOf(last)).entries()) {
    if (attempt.result) continue
    attempt.cancellation.cancel()
    attempt.isCancelled = true
    attempt.endedMs = last.endedMs
    attempt.result = buildCancelledResult(last.result!, {
      attempt: i + 1,
      startedAtMs: last.result!.startedAtMs - (last.startedMs - attempt.startedMs),
      silentMs: last.endedMs - attempt.startedMs,
    })
  }
}

/** Publishes results up to the given attempt in their order, and answers requests. A cancelled attempt answers none. */
function settle(context: AttemptsContext, chain: RecheckChain, upTo: number): void {
  for (; chain.settled < upTo; chain.settled++) {
    const { result, endedMs, isCancelled } = chain.attempts[chain.settled]!
    if (!result) continue
    context.publish(result)
    chain.last = result
    if (isCancelled) continue
    answerRequests(context, chain, result, chain.settled + 1)
    for (const request of chain.requests) if (endedMs >= request.askedMs) request.earlier = result
  }
}

/** Answers the requests that came before the start of the given attempt. */
function answerRequests({ answer }: AttemptsContext, chain: RecheckChain, result: Result, attempt: number): void {
  const isAnswered = ({ fromAttempt }: ChainRequest) => fromAttempt <= attempt
  for (const { runId, cancelTimer } of chain.requests.filter(isAnswered)) {
    cancelTimer()
    answer(runId, { ...result, runId })
  }
  chain.requests = chain.requests.filter(request => !isAnswered(request))
}

/** A check on demand that ends with `unknown` does not double the wait for the next check. */
function countUnknownChains(
  { unknownChains }: AssignedMonitor,
  { trigger }: RecheckChain,
  { outcome }: Result,
): number {
  if (outcome !== Outcome.UNKNOWN) return 0
  return trigger === Trigger.RUN_NOW ? Math.max(1, unknownChains) : unknownChains + 1
}

/**
 * Requests that no attempt of the chain has answered get a new chain. When the probe is leaving, or the monitor was removed or
 * changed, they get the newest result.
 */
function passRequests(context: AttemptsContext, monitor: AssignedMonitor, chain: RecheckChain): void {
  const { requests } = chain
  if (requests.length === 0) return
  chain.requests = []
  if (!monitor.isRetired && context.mayStartRequestedChain()) {
    context.startRequestedChain(monitor, requests)
    return
  }
  for (const { runId, earlier, cancelTimer } of requests) {
    cancelTimer()
    context.answer(runId, { ...(earlier ?? chain.last!), runId })
  }
}

function end(context: AttemptsContext, monitor: AssignedMonitor, chain: RecheckChain, state: RegionState): void {
  chain.isOver = true
  for (const { result, cancellation } of chain.attempts) if (!result) cancellation.cancel()
  if (monitor.isRetired) return
  if (state !== chain.state) monitor.concluded = { state, atMs: context.timers.monotonicMs() }
  monitor.chain = null
  context.onChainEnd?.(monitor, { before: chain.state, after: state, result: chain.last! })
}

/** Sets when the monitor of an unfinished chain is due again. */
function scheduleNext(
  { timers, wakeIn }: AttemptsContext,
  monitor: AssignedMonitor,
  chain: RecheckChain,
  progress: RecheckProgress,
): void {
  if (monitor.isRetired) return
  const latest = chain.attempts.at(-1)!
  const silentUntilMs =
    latest.startedMs + computeSilenceLimitMs(monitor.assignment.spec!.timeoutMs, monitor.responseTimes)
  const now = timers.monotonicMs()
  if (progress.kind === 'recheck') wakeIn(monitor, latest.endedMs + progress.inMs - now)
  else if (progress.kind === 'silent' || shouldReportSilence(chain)) wakeIn(monitor, silentUntilMs - now)
  else wakeIn(monitor, null)
}

function decideWhenDue(context: AttemptsContext, monitor: AssignedMonitor): 'begin' | 'attempt' | 'nothing' {
  const { chain } = monitor
  if (!chain) return 'begin'
  if (chain.attempts.length === 0) return 'attempt'
  if (shouldReportSilence(chain)) {
    chain.isReported = true
    context.onSilent(monitor)
  }
  const { kind } = progressOfChain(monitor, chain)
  if (kind === 'silent' || kind === 'recheck') return 'attempt'
  context.wakeIn(monitor, null)
  return 'nothing'
}

/** The maximum wait for the next check, if its slot is later. `last`: the result that ended the chain. */
function getMaxWaitMs({ unknownChains }: AssignedMonitor, state: RegionState, last: Result): number | undefined {
  if (state === RegionState.PENDING) return FIRST_STATE_MS
  if (state === RegionState.FAILING && last.doubted) return DOUBT_RECHECK_DELAY_MS
  return unknownChains === 0 ? undefined : UNKNOWN_RECHECK_MS * 2 ** (unknownChains - 1)
}

const getOutcome = ({ result }: Attempt): Outcome | null => result?.outcome ?? null

/** Whether the first attempt of a chain is in flight and could make its region failing. */
const shouldReportSilence = ({ attempts, state, isReported }: RecheckChain): boolean =>
  !isReported && state !== RegionState.FAILING && attempts.length === 1 && attempts[0]!.result === null

const isAnswer = ({ outcome, statusCode }: Result): boolean =>
  statusCode !== 0 || outcome === Outcome.UP || outcome === Outcome.DEGRADED
