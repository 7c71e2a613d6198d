import { isNetworkOnline } from '../../probe-agent/execution/own-faults/connectivity.ts'
import { createDoubtDetector } from '../../probe-agent/execution/own-faults/doubt.ts'
import { isUnanswered, recordReachability } from '../../probe-agent/execution/own-faults/reachability.ts'
import type { CheckExecution } from '../../probe-agent/execution/run-check.ts'
import type { CheckSpec } from '../../shared/checks/check.ts'
import { type CheckError, FailureSource, Outcome } from '../../shared/checks/result.ts'
import type { Cancellation } from '../../shared/egress/index.ts'
import { fnv1a } from '../../shared/nats/subjects.ts'
import type { Random } from '../chaos/random.ts'
import { createBackground, observationOf } from './background.ts'
import {
  type ActiveFaults,
  areTargetsUnreachable,
  findBrokenRoute,
  getHiddenShare,
  isResolverDown,
  isUplinkDown,
  type ProbeConditions,
} from './conditions.ts'
import { getTargetHost, parseMonitorIndex, type SimulatedMonitor } from './installation.ts'
import type { OutageKind } from './plan.ts'
import type { Host, Time } from './time.ts'

/** How each target is now, by index of its monitor: in which way it is broken; null: it is well. */
export type SimulatedTargets = {
  monitors: SimulatedMonitor[]
  broken: (OutageKind | null)[]
  checks: number
  /** what broke many hosts at once, everywhere: also of those that no monitor is on */
  shared: { kind: OutageKind; salt: string } | null
}

/** Of the other hosts of a probe, the share that an outage of many hosts takes. */
const SHARED_SHARE = 0.25

/** Of the targets checked by a probe, in addition to those that are simulated, so many were checked in the last 15 s. */
const BACKGROUND_WORDS = 150
const RECENT_MS = 15_000
const TESTED = 2
const SELF_TEST_EVERY_MS = 5_000
const SELF_TEST_TIMEOUT_MS = 2_000
const RESOLVER_TIMEOUT_MS = 5_000
/** One attempt in so many fails by itself, at a target whose failures are re-checked. It may not change a verdict. */
const FLAKE_ONE_IN = 20_000

const error = (source: FailureSource, code: string): CheckError => ({ source, code, message: code })
const QUICK_MS = 100
const ERRORS = {
  refused: error(FailureSource.TARGET, 'connection_refused'),
  wrong: error(FailureSource.TARGET, 'assertion_failed'),
  timeout: error(FailureSource.TARGET, 'timeout'),
  unreachable: error(FailureSource.TARGET, 'host_unreachable'),
  resolver: error(FailureSource.RESOLVER, 'dns_timeout'),
  offline: error(FailureSource.INTERNAL, 'probe_offline'),
}

/** The result of an attempt, and after how long. `isSilent`: the cause may be the network of the probe. */
export type AttemptObservation = {
  afterMs: number
  outcome: Outcome
  statusCode: number
  error: CheckError | null
  isSilent: boolean
}

const WELL: AttemptObservation = {
  afterMs: QUICK_MS,
  outcome: Outcome.UP,
  statusCode: 200,
  error: null,
  isSilent: false,
}

const observeTimeout = (timeoutMs: number): AttemptObservation => ({
  ...{ afterMs: timeoutMs, outcome: Outcome.DOWN, statusCode: 0, error: ERRORS.timeout },
  isSilent: true,
})
const observeFailure = (afterMs: number, timeoutMs: number, what: Partial<AttemptObservation>): AttemptObservation => ({
  ...observeTimeout(timeoutMs),
  afterMs: Math.min(timeoutMs, afterMs),
  ...what,
})

/** `quickMs`: how long an answer of the target takes now. */
function observeBrokenTarget(kind: OutageKind, timeoutMs: number, quickMs: number): AttemptObservation {
  switch (kind) {
    case 'refused':
      return observeFailure(Math.min(50, quickMs), timeoutMs, { error: ERRORS.refused, isSilent: false })
    case 'wrong':
      return observeFailure(Math.min(quickMs, 500), timeoutMs, {
        error: ERRORS.wrong,
        statusCode: 503,
        isSilent: false,
      })
    case 'slow':
      return observeFailure(timeoutMs * 0.98, timeoutMs, { error: ERRORS.wrong, statusCode: 503, isSilent: false })
    case 'hanging':
      return observeTimeout(timeoutMs)
    case 'degraded':
      return { ...WELL, afterMs: Math.min(timeoutMs, quickMs), outcome: Outcome.DEGRADED }
  }
}

type RunnerParts = {
  targets: SimulatedTargets
  conditions: ProbeConditions
  host: Host
  random: Random
  time: Time
  activeFaults: ActiveFaults
}

export type Runner = {
  run: (spec: CheckSpec, cancellation?: Cancellation, isOfOthers?: boolean) => Promise<CheckExecution>
  /** the result of the last test of the probe's own connection */
  isOnline: () => boolean
}

/**
 * The checks of one probe: what a target answers over the ways that are there. A failure that the network of the probe may have caused
 * is excused by the same rule as in production, on what the probe's self-test would know.
 */
export function createRunner({ targets, conditions, host, random, time, activeFaults }: RunnerParts): Runner {
  const { machine } = host
  /** when the probe last found itself without a connection; and since when it has been so */
  let lastOfflineMs = Number.NEGATIVE_INFINITY
  let lastSaid = true
  let lastUnresolvedMs = Number.NEGATIVE_INFINITY
  let trouble: { sinceMs: number } | null = null
  const nowUs = () => Math.round(machine.monotonicMs() * 1000)
  const doubt = createDoubtDetector()
  const isInTrouble = () =>
    isUplinkDown(conditions) ||
    areTargetsUnreachable(conditions) ||
    isResolverDown(conditions) ||
    getHiddenShare(conditions) > 0
  const background = createBackground({
    machine,
    doubt,
    isInTrouble: () => isInTrouble() || targets.shared !== null,
    attempt: (host, timeoutMs) => {
      const { shared } = targets
      const isBroken = shared !== null && fnv1a(shared.salt + host) / 2 ** 32 < SHARED_SHARE
      return seenOn(host, timeoutMs) ?? (isBroken ? observeBrokenTarget(shared.kind, timeoutMs, QUICK_MS) : WELL)
    },
  })

  function lookAtNetwork(): void {
    const isInTrouble = isUplinkDown(conditions) || areTargetsUnreachable(conditions) || getHiddenShare(conditions) > 0
    if (isInTrouble && !trouble) trouble = { sinceMs: machine.monotonicMs() }
    if (!isInTrouble) trouble = null
  }

  function isOnline(): boolean {
    lookAtNetwork()
    lastSaid = true
    if (!trouble) return true
    const isAllGone = isUplinkDown(conditions) || areTargetsUnreachable(conditions)
    const hidden = isAllGone ? 1 : getHiddenShare(conditions)
    const share = Math.min(1, (machine.monotonicMs() - trouble.sinceMs) / RECENT_MS)
    const unanswered = Math.round(BACKGROUND_WORDS * share * hidden)
    const answered = isAllGone ? 0 : Math.round(BACKGROUND_WORDS * share * (1 - hidden))
    const reachable = isAllGone
      ? 0
      : Array.from({ length: TESTED }, (_, i) => !findBrokenRoute(conditions, `test ${i}`)).filter(Boolean).length
    const online = isNetworkOnline({ tested: TESTED, reachable, answered, unanswered })
    if (!online) lastOfflineMs = machine.monotonicMs()
    lastSaid = online
    return online
  }

  /** The tests that are made every few seconds, while they could find something. */
  function test(): void {
    lookAtNetwork()
    if (!trouble) {
      lastSaid = true
      return
    }
    if (isUplinkDown(conditions) || areTargetsUnreachable(conditions)) machine.after(SELF_TEST_TIMEOUT_MS, isOnline)
    machine.after(SELF_TEST_EVERY_MS, test)
  }

  activeFaults.changed.subscribe(() => {
    if (!trouble) machine.after(0, test)
    machine.after(0, background.look)
    return host.isAlive()
  })

  machine.after(0, background.look)

  function excused(seen: AttemptObservation, startedMs: number): CheckError | null {
    if (!seen.isSilent) return seen.error
    if (!isOnline() || lastOfflineMs >= startedMs) return ERRORS.offline
    if (seen.error?.source !== FailureSource.RESOLVER) return seen.error
    if (isResolverDown(conditions)) lastUnresolvedMs = machine.monotonicMs()
    return lastUnresolvedMs >= startedMs ? ERRORS.offline : seen.error
  }

  /** The result of an attempt because of the routes to the target; null: the routes work. */
  function seenOn(host: string, timeoutMs: number): AttemptObservation | null {
    if (isUplinkDown(conditions)) return observeTimeout(timeoutMs)
    if (isResolverDown(conditions)) return observeFailure(RESOLVER_TIMEOUT_MS, timeoutMs, { error: ERRORS.resolver })
    if (areTargetsUnreachable(conditions)) return observeFailure(100, timeoutMs, { error: ERRORS.unreachable })
    const way = findBrokenRoute(conditions, host)
    if (!way) return null
    return way.isRejecting ? observeBrokenTarget('refused', timeoutMs, QUICK_MS) : observeTimeout(timeoutMs)
  }

  function look(monitor: SimulatedMonitor, timeoutMs: number): AttemptObservation {
    const bad = seenOn(getTargetHost(monitor.index), timeoutMs)
    if (bad) return bad
    const quickMs = monitor.quickMs + random.between(0, monitor.spreadMs)
    const isFlake = monitor.settings.retryCount > 0 && random.between(1, FLAKE_ONE_IN) === 1
    const broken = targets.broken[monitor.index] ?? (isFlake ? 'wrong' : null)
    return broken
      ? observeBrokenTarget(broken, timeoutMs, quickMs)
      : { ...WELL, afterMs: Math.min(quickMs, timeoutMs * 0.98) }
  }

  return {
    isOnline: () => lastSaid,
    run(spec, cancellation, isOfOthers = false) {
      targets.checks++
      const startedMs = machine.monotonicMs()
      const index = parseMonitorIndex(spec)
      const seen = look(targets.monitors[index]!, spec.timeoutMs)
      return new Promise(resolve => {
        const end = (outcome: Outcome, statusCode: number | null, error: CheckError | null, isCancelled = false) => {
          const totalUs = Math.round((machine.monotonicMs() - startedMs) * 1000)
          const observation = { ...observationOf(error, statusCode, getTargetHost(index)), totalUs }
          if (error !== null) background.catchUp()
          const isInDoubt = () =>
            isOfOthers
              ? isUnanswered(observation) && doubt.isDoubting(nowUs(), startedMs * 1000)
              : recordReachability(doubt, spec, observation, nowUs(), startedMs * 1000)
          const isDoubted = !isCancelled && isInDoubt() && outcome === Outcome.DOWN
          resolve({ observation, outcome, failedAssertions: [], isDoubted } as unknown as CheckExecution)
          time.settled()
        }
        const stop = machine.after(seen.afterMs, () => {
          const error = excused(seen, startedMs)
          end(error === ERRORS.offline ? Outcome.UNKNOWN : seen.outcome, seen.statusCode || null, error)
        })
        if (cancellation)
          cancellation.onCancel = () => {
            stop()
            end(Outcome.UNKNOWN, null, null, true)
          }
      })
    },
  }
}
