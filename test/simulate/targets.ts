import { isNetworkOnline } from '../../probe-agent/execution/own-faults/connectivity.ts'
import { createDoubtDetector } from '../../probe-agent/execution/own-faults/doubt.ts'
import { isUnanswered, recordReachability } from '../../probe-agent/execution/own-faults/reachability.ts'
import type { CheckExecution, CheckRunOptions } from '../../probe-agent/execution/run-check.ts'
import type { CheckSpec } from '../../shared/checks/check.ts'
import { type CheckError, FailureSource, Outcome } from '../../shared/checks/result.ts'
import { fnv1a } from '../../shared/nats/subjects.ts'
import type { Random } from '../chaos/random.ts'
import { buildObservation, createBackground } from './background.ts'
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

/** How a target fails, and from which regions; missing: from all. */
type BrokenTarget = { kind: OutageKind; regions?: readonly string[] }

/** The current state of the targets. `broken`: how each target fails, by index of its monitor; null: it works. */
export type SimulatedTargets = {
  monitors: SimulatedMonitor[]
  broken: (BrokenTarget | null)[]
  checks: number
  /** an outage of many hosts, including hosts without a monitor */
  shared: (BrokenTarget & { salt: string }) | null
}

const isSeenFrom = ({ regions }: BrokenTarget, region: string) => !regions || regions.includes(region)

/** Share of a probe's other hosts that an outage of many hosts affects. */
const SHARED_SHARE = 0.25

/** Number of additional targets of a probe that were checked in the last 15 s. */
const BACKGROUND_CHECKS = 150
const RECENT_MS = 15_000
const TESTED = 2
const SELF_TEST_EVERY_MS = 5_000
const SELF_TEST_TIMEOUT_MS = 2_000
const RESOLVER_TIMEOUT_MS = 5_000
/** One of this many attempts fails without an outage, if failures of the monitor are re-checked. It must not change a verdict. */
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

/** The result of an attempt and its duration. `isSilent`: the cause may be the network of the probe. */
export type AttemptObservation = {
  afterMs: number
  outcome: Outcome
  statusCode: number
  error: CheckError | null
  isSilent: boolean
}

const WORKING: AttemptObservation = {
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

/** `quickMs`: the current response time of the target. */
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
      return { ...WORKING, afterMs: Math.min(timeoutMs, quickMs), outcome: Outcome.DEGRADED }
  }
}

type RunnerParts = {
  targets: SimulatedTargets
  /** the region of the probe */
  region: string
  conditions: ProbeConditions
  host: Host
  random: Random
  time: Time
  activeFaults: ActiveFaults
}

type Runner = {
  run: (spec: CheckSpec, options: CheckRunOptions) => Promise<CheckExecution>
  /** the result of the last test of the probe's own connection */
  isOnline: () => boolean
}

/**
 * Runs the checks of one probe over the routes that work. A failure that the probe's network may have caused is excused by the
 * production rule, with the knowledge that the probe's self-test would have.
 */
export function createRunner({ targets, region, conditions, host, random, time, activeFaults }: RunnerParts): Runner {
  const { machine } = host
  /** when the probe last detected that it has no connection */
  let lastOfflineMs = Number.NEGATIVE_INFINITY
  let wasOnline = true
  let lastUnresolvedMs = Number.NEGATIVE_INFINITY
  let networkFault: { sinceMs: number } | null = null
  const nowUs = () => Math.round(machine.monotonicMs() * 1000)
  const doubt = createDoubtDetector()
  const isImpaired = () =>
    isUplinkDown(conditions) ||
    areTargetsUnreachable(conditions) ||
    isResolverDown(conditions) ||
    getHiddenShare(conditions) > 0
  const background = createBackground({
    machine,
    doubt,
    isImpaired: () => isImpaired() || targets.shared !== null,
    attempt: (host, timeoutMs) => {
      const { shared } = targets
      const isBroken =
        shared !== null && isSeenFrom(shared, region) && fnv1a(shared.salt + host) / 2 ** 32 < SHARED_SHARE
      return (
        observeRoute(host, timeoutMs) ?? (isBroken ? observeBrokenTarget(shared.kind, timeoutMs, QUICK_MS) : WORKING)
      )
    },
  })

  function updateNetworkFault(): void {
    const isImpaired = isUplinkDown(conditions) || areTargetsUnreachable(conditions) || getHiddenShare(conditions) > 0
    if (isImpaired && !networkFault) networkFault = { sinceMs: machine.monotonicMs() }
    if (!isImpaired) networkFault = null
  }

  function isOnline(): boolean {
    updateNetworkFault()
    wasOnline = true
    if (!networkFault) return true
    const isCutOff = isUplinkDown(conditions) || areTargetsUnreachable(conditions)
    const hidden = isCutOff ? 1 : getHiddenShare(conditions)
    const share = Math.min(1, (machine.monotonicMs() - networkFault.sinceMs) / RECENT_MS)
    const unanswered = Math.round(BACKGROUND_CHECKS * share * hidden)
    const answered = isCutOff ? 0 : Math.round(BACKGROUND_CHECKS * share * (1 - hidden))
    const reachable = isCutOff
      ? 0
      : Array.from({ length: TESTED }, (_, i) => !findBrokenRoute(conditions, `test ${i}`)).filter(Boolean).length
    const online = isNetworkOnline({ tested: TESTED, reachable, answered, unanswered })
    if (!online) lastOfflineMs = machine.monotonicMs()
    wasOnline = online
    return online
  }

  /** Repeats the self-test while a network fault is active. */
  function test(): void {
    updateNetworkFault()
    if (!networkFault) {
      wasOnline = true
      return
    }
    if (isUplinkDown(conditions) || areTargetsUnreachable(conditions)) machine.after(SELF_TEST_TIMEOUT_MS, isOnline)
    machine.after(SELF_TEST_EVERY_MS, test)
  }

  activeFaults.changed.subscribe(() => {
    if (!networkFault) machine.after(0, test)
    machine.after(0, background.startChecking)
    return host.isAlive()
  })

  machine.after(0, background.startChecking)

  function findError(seen: AttemptObservation, startedMs: number): CheckError | null {
    if (!seen.isSilent) return seen.error
    if (!isOnline() || lastOfflineMs >= startedMs) return ERRORS.offline
    if (seen.error?.source !== FailureSource.RESOLVER) return seen.error
    if (isResolverDown(conditions)) lastUnresolvedMs = machine.monotonicMs()
    return lastUnresolvedMs >= startedMs ? ERRORS.offline : seen.error
  }

  /** The result of an attempt because of the routes to the target; null: the routes work. */
  function observeRoute(host: string, timeoutMs: number): AttemptObservation | null {
    if (isUplinkDown(conditions)) return observeTimeout(timeoutMs)
    if (isResolverDown(conditions)) return observeFailure(RESOLVER_TIMEOUT_MS, timeoutMs, { error: ERRORS.resolver })
    if (areTargetsUnreachable(conditions)) return observeFailure(100, timeoutMs, { error: ERRORS.unreachable })
    const route = findBrokenRoute(conditions, host)
    if (!route) return null
    return route.isRejecting ? observeBrokenTarget('refused', timeoutMs, QUICK_MS) : observeTimeout(timeoutMs)
  }

  function observe(monitor: SimulatedMonitor, timeoutMs: number): AttemptObservation {
    const bad = observeRoute(getTargetHost(monitor.index), timeoutMs)
    if (bad) return bad
    const quickMs = monitor.quickMs + random.between(0, monitor.spreadMs)
    const isFlake = monitor.settings.retryCount > 0 && random.between(1, FLAKE_ONE_IN) === 1
    const broken = targets.broken[monitor.index]
    const kind = broken && isSeenFrom(broken, region) ? broken.kind : isFlake ? 'wrong' : null
    return kind
      ? observeBrokenTarget(kind, timeoutMs, quickMs)
      : { ...WORKING, afterMs: Math.min(quickMs, timeoutMs * 0.98) }
  }

  return {
    isOnline: () => wasOnline,
    run(spec, { cancellation, isOfOthers = false }) {
      targets.checks++
      const startedMs = machine.monotonicMs()
      const index = parseMonitorIndex(spec)
      const seen = observe(targets.monitors[index]!, spec.timeoutMs)
      return new Promise(resolve => {
        const end = (outcome: Outcome, statusCode: number | null, error: CheckError | null, isCancelled = false) => {
          const totalUs = Math.round((machine.monotonicMs() - startedMs) * 1000)
          const observation = { ...buildObservation(error, statusCode, getTargetHost(index)), totalUs }
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
          const error = findError(seen, startedMs)
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
