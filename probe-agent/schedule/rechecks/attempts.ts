import { RegionState } from '../../../proto/gen/probe/v1/fleet.ts'
import type { CheckSpec } from '../../../shared/checks/check.ts'
import { DOUBT_RECHECK_DELAY_MS } from '../../../shared/checks/rechecks.ts'
import { Outcome, type Result } from '../../../shared/checks/result.ts'
import { type Cancellation, createCancellation } from '../../../shared/egress/index.ts'
import type { Timers } from '../../clock.ts'
import type { CheckOccasion, ResultSubject } from '../../execution/result-builder.ts'
import { applyComparison, type RecheckChainEnd } from '../../screenshots/should-capture.ts'
import type { AssignedMonitor, Attempt, RecheckChain } from '../assigned-monitors.ts'
import type { CheckPermit } from '../check-permits.ts'
import { computeProgress, type RecheckProgress, resolveEndState } from './recheck.ts'
import { computeSilenceLimitMs, recordResponseTime } from './silence-limit.ts'

export type RecheckAttemptsOptions = {
  timers: Pick<Timers, 'monotonicMs'>
  /** Runs one check in a place, gives the place back and hands over what it saw. */
  check: (place: CheckPermit, spec: CheckSpec, asked: CheckRequest, take: (result: Result) => void) => void
  subjectOf: (watch: AssignedMonitor) => ResultSubject
  publish: (result: Result) => void
  /** a result that answers the run-now which began its chain */
  answer: (runId: string, result: Result) => void
  /** the first attempt of a chain has been silent for the silence limit, and the region is not failing yet */
  onSilent: (watch: AssignedMonitor) => void
  /** Takes the watch up again after so many ms, by `whenDue`; null: not before an attempt has ended. */
  wakeIn: (watch: AssignedMonitor, ms: number | null) => void
  /** Takes the watch up again at its next slot, or after so many ms if that is sooner. */
  wakeAtSlot: (watch: AssignedMonitor, latestMs?: number) => void
  /** after the last attempt of a chain was published */
  onChainEnd?: (watch: AssignedMonitor, end: RecheckChainEnd) => void
}

/** `isOfOthers`: a check of what is not assigned to this probe. */
export type CheckRequest = {
  subject: ResultSubject
  occasion: CheckOccasion
  cancellation?: Cancellation
  isOfOthers?: boolean
}

/** A monitor of which nothing is known yet, because its checks failed by our own fault, is checked again so soon. */
const FIRST_STATE_MS = 30_000

/**
 * Runs the chains of the watches: attempts that overlap when the target is silent, published in their order (decision
 * 192). What a chain came to is kept in its watch.
 */
export type RecheckAttempts = {
  /** Starts the next attempt of the watch's chain. */
  start: (watch: AssignedMonitor, chain: RecheckChain, place: CheckPermit) => void
  /** Ends the chain of the watch when it is decided; attempts under way are cancelled. False: it has no such chain. */
  endDecided: (watch: AssignedMonitor) => boolean
  /**
   * What to do for a watch that is due: begin a chain, start the next attempt of the one it has, or nothing until an
   * attempt has ended. A chain that is decided ends here: its slot is over.
   */
  decideWhenDue: (watch: AssignedMonitor) => 'begin' | 'attempt' | 'nothing'
}

export function createRecheckAttempts(parts: RecheckAttemptsOptions): RecheckAttempts {
  const { timers, check, subjectOf, publish, answer, onSilent, wakeIn, wakeAtSlot, onChainEnd } = parts

  function start(watch: AssignedMonitor, chain: RecheckChain, place: CheckPermit): void {
    const number = chain.attempts.length + 1
    const runId = number === 1 ? chain.runId : ''
    const { scheduledAtMs, trigger } = chain
    const occasion = { scheduledAtMs, trigger, runId, attempt: number }
    const cancellation = createCancellation()
    const attempt: Attempt = { startedMs: timers.monotonicMs(), endedMs: 0, result: null, cancellation }
    chain.attempts.push(attempt)
    goOn(watch, chain, progressOfChain(watch, chain))
    check(place, watch.assignment.spec!, { subject: subjectOf(watch), occasion, cancellation }, seen => {
      if (chain.isOver) return
      attempt.endedMs = timers.monotonicMs()
      attempt.result = applyComparison(watch.assignment, seen)
      if (isAnswer(seen)) recordResponseTime(watch.responseTimes, watch.assignment.spec!.timeoutMs, seen.totalUs / 1000)
      const progress = progressOfChain(watch, chain)
      settle(chain, progress.settled)
      if (progress.kind !== 'over') return goOn(watch, chain, progress)
      end(watch, chain, progress.state)
      if (!watch.isRetired) wakeAtSlot(watch, getMaxWaitMs(progress.state, seen))
    })
  }

  const progressOfChain = (watch: AssignedMonitor, { state, attempts }: RecheckChain) =>
    computeProgress(state, watch.assignment.retryCount, attempts.map(getOutcome))

  /** Publishes results up to the given attempt, in their order, and answers who asked for the first. */
  function settle(chain: RecheckChain, upTo: number): void {
    for (; chain.settled < upTo; chain.settled++) {
      const { result } = chain.attempts[chain.settled]!
      if (!result) continue
      publish(result)
      chain.last = result
      if (result.runId !== '') answer(result.runId, result)
    }
  }

  function end(watch: AssignedMonitor, chain: RecheckChain, state: RegionState): void {
    chain.isOver = true
    for (const { result, cancellation } of chain.attempts) if (!result) cancellation.cancel()
    const [first] = chain.attempts
    // the first attempt, which was to be the answer, is cancelled: a later one answers
    if (chain.runId !== '' && first && !first.result && chain.last) {
      answer(chain.runId, { ...chain.last, runId: chain.runId })
    }
    if (watch.isRetired) return
    if (state !== chain.state) watch.concluded = { state, atMs: timers.monotonicMs() }
    watch.chain = null
    onChainEnd?.(watch, { before: chain.state, after: state, result: chain.last! })
  }

  /** Sets when the watch of a chain that is not over is due again. */
  function goOn(watch: AssignedMonitor, chain: RecheckChain, progress: RecheckProgress): void {
    if (watch.isRetired) return
    const latest = chain.attempts.at(-1)!
    const silentUntilMs =
      latest.startedMs + computeSilenceLimitMs(watch.assignment.spec!.timeoutMs, watch.responseTimes)
    const now = timers.monotonicMs()
    chain.isDecided = progress.kind === 'decided'
    if (progress.kind === 'decided') wakeAtSlot(watch)
    else if (progress.kind === 'recheck') wakeIn(watch, latest.endedMs + progress.inMs - now)
    else if (progress.kind === 'silent' || shouldReportSilence(chain)) wakeIn(watch, silentUntilMs - now)
    else wakeIn(watch, null)
  }

  function endDecided(watch: AssignedMonitor): boolean {
    const { chain } = watch
    if (!chain?.isDecided) return false
    const outcomes = chain.attempts.map(getOutcome)
    settle(chain, chain.attempts.length)
    end(watch, chain, resolveEndState(chain.state, watch.assignment.retryCount, outcomes) ?? chain.state)
    return true
  }

  return {
    start,
    endDecided,
    decideWhenDue(watch) {
      const { chain } = watch
      if (!chain) return 'begin'
      if (endDecided(watch)) return 'begin'
      if (chain.attempts.length === 0) return 'attempt'
      if (shouldReportSilence(chain)) {
        chain.isReported = true
        onSilent(watch)
      }
      const { kind } = progressOfChain(watch, chain)
      if (kind === 'silent' || kind === 'recheck') return 'attempt'
      wakeIn(watch, null)
      return 'nothing'
    },
  }
}

/** How long the next check may wait at most, where its slot is too late. */
function getMaxWaitMs(state: RegionState, last: Result): number | undefined {
  if (state === RegionState.PENDING) return FIRST_STATE_MS
  return state === RegionState.FAILING && last.doubted ? DOUBT_RECHECK_DELAY_MS : undefined
}

const getOutcome = ({ result }: Attempt): Outcome | null => result?.outcome ?? null

/** Whether the first attempt of a chain is under way that could turn its region failing. */
const shouldReportSilence = ({ attempts, state, isReported }: RecheckChain): boolean =>
  !isReported && state !== RegionState.FAILING && attempts.length === 1 && attempts[0]!.result === null

const isAnswer = ({ outcome, statusCode }: Result): boolean =>
  statusCode !== 0 || outcome === Outcome.UP || outcome === Outcome.DEGRADED
