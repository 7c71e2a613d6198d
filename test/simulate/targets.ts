import { decideOnline } from '../../probe-agent/connectivity.ts'
import type { Ran } from '../../probe-agent/run.ts'
import type { CheckSpec } from '../../shared/check.ts'
import type { Cancellation } from '../../shared/egress/index.ts'
import { type CheckError, FailureSource, Outcome } from '../../shared/result.ts'
import type { Random } from '../chaos/random.ts'
import {
  areTargetsGone,
  brokenWay,
  isResolverGone,
  isUplinkGone,
  type Outlook,
  shareHidden,
  type World,
} from './conditions.ts'
import type { OutageKind } from './plan.ts'
import { type Monitor, monitorIndexOf } from './scene.ts'
import type { Host, Time } from './time.ts'

/** How each target is now, by index of its monitor: in which way it is broken; null: it is well. */
export type Targets = { monitors: Monitor[]; broken: (OutageKind | null)[]; checks: number }

/** Of the targets checked by a probe, in addition to those that are simulated, so many were heard of in the last 15 s. */
const BACKGROUND_WORDS = 150
const RECENT_MS = 15_000
const TESTED = 2
const SELF_TEST_EVERY_MS = 5_000
const SELF_TEST_TIMEOUT_MS = 2_000
const RESOLVER_TIMEOUT_MS = 5_000
/** An attempt of so many fails for itself, at a target whose failures are re-checked: nothing may come of it. */
const FLAKE_ONE_IN = 20_000

const TIMINGS = { dnsUs: 0, connectUs: 0, tlsUs: 0, firstByteUs: 0, transferUs: 0 }
const error = (source: FailureSource, code: string): CheckError => ({ source, code, message: code })
const ERRORS = {
  refused: error(FailureSource.TARGET, 'connection_refused'),
  wrong: error(FailureSource.TARGET, 'assertion_failed'),
  timeout: error(FailureSource.TARGET, 'timeout'),
  unreachable: error(FailureSource.TARGET, 'host_unreachable'),
  resolver: error(FailureSource.RESOLVER, 'dns_timeout'),
  offline: error(FailureSource.INTERNAL, 'probe_offline'),
}

/** The result of an attempt, and after how long. `isSilent`: it could be our own network. */
type Seen = { afterMs: number; outcome: Outcome; statusCode: number; error: CheckError | null; isSilent: boolean }

type RunnerParts = { targets: Targets; outlook: Outlook; host: Host; random: Random; time: Time; world: World }

export type Runner = {
  run: (spec: CheckSpec, cancellation?: Cancellation) => Promise<Ran>
  /** what the last test of the probe's own connection said */
  isOnline: () => boolean
}

/**
 * The checks of one probe: what a target answers over the ways that are there. A failure that could be our own network's
 * is excused by the same rule as in production, on what the probe's self-test would know.
 */
export function createRunner({ targets, outlook, host, random, time, world }: RunnerParts): Runner {
  const { machine } = host
  /** when the probe last found itself without a connection; and since when it has been so */
  let lastOfflineMs = Number.NEGATIVE_INFINITY
  let lastSaid = true
  let lastUnresolvedMs = Number.NEGATIVE_INFINITY
  let trouble: { sinceMs: number } | null = null

  function lookAtNetwork(): void {
    const isInTrouble = isUplinkGone(outlook) || areTargetsGone(outlook) || shareHidden(outlook) > 0
    if (isInTrouble && !trouble) trouble = { sinceMs: machine.monotonicMs() }
    if (!isInTrouble) trouble = null
  }

  function isOnline(): boolean {
    lookAtNetwork()
    lastSaid = true
    if (!trouble) return true
    const isAllGone = isUplinkGone(outlook) || areTargetsGone(outlook)
    const hidden = isAllGone ? 1 : shareHidden(outlook)
    const share = Math.min(1, (machine.monotonicMs() - trouble.sinceMs) / RECENT_MS)
    const unanswered = Math.round(BACKGROUND_WORDS * share * hidden)
    const answered = isAllGone ? 0 : Math.round(BACKGROUND_WORDS * share * (1 - hidden))
    const reachable = isAllGone
      ? 0
      : Array.from({ length: TESTED }, (_, i) => !brokenWay(outlook, `test ${i}`)).filter(Boolean).length
    const online = decideOnline({ tested: TESTED, reachable, answered, unanswered })
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
    if (isUplinkGone(outlook) || areTargetsGone(outlook)) machine.after(SELF_TEST_TIMEOUT_MS, isOnline)
    machine.after(SELF_TEST_EVERY_MS, test)
  }

  world.changed.subscribe(() => {
    if (!trouble) machine.after(0, test)
    return host.isAlive()
  })

  function excused(seen: Seen, startedMs: number): CheckError | null {
    if (!seen.isSilent) return seen.error
    if (!isOnline() || lastOfflineMs >= startedMs) return ERRORS.offline
    if (seen.error?.source !== FailureSource.RESOLVER) return seen.error
    if (isResolverGone(outlook)) lastUnresolvedMs = machine.monotonicMs()
    return lastUnresolvedMs >= startedMs ? ERRORS.offline : seen.error
  }

  function look(monitor: Monitor, timeoutMs: number): Seen {
    const hang: Seen = {
      afterMs: timeoutMs,
      outcome: Outcome.DOWN,
      statusCode: 0,
      error: ERRORS.timeout,
      isSilent: true,
    }
    const at = (afterMs: number, what: Partial<Seen>): Seen => ({
      ...hang,
      afterMs: Math.min(timeoutMs, afterMs),
      ...what,
    })
    if (isUplinkGone(outlook)) return hang
    if (isResolverGone(outlook)) return at(RESOLVER_TIMEOUT_MS, { error: ERRORS.resolver })
    if (areTargetsGone(outlook)) return at(100, { error: ERRORS.unreachable })
    const way = brokenWay(outlook, monitor.id)
    if (way) return way.isRejecting ? at(50, { error: ERRORS.refused, isSilent: false }) : hang
    const quickMs = monitor.quickMs + random.between(0, monitor.spreadMs)
    const isFlake = monitor.settings.retryCount > 0 && random.between(1, FLAKE_ONE_IN) === 1
    switch (targets.broken[monitor.index] ?? (isFlake ? 'wrong' : null)) {
      case 'refused':
        return at(Math.min(50, quickMs), { error: ERRORS.refused, isSilent: false })
      case 'wrong':
        return at(Math.min(quickMs, 500), { error: ERRORS.wrong, statusCode: 503, isSilent: false })
      case 'slow':
        return at(timeoutMs * 0.98, { error: ERRORS.wrong, statusCode: 503, isSilent: false })
      case 'hanging':
        return hang
      case 'degraded':
        return at(quickMs, { outcome: Outcome.DEGRADED, statusCode: 200, error: null, isSilent: false })
      default:
        return at(Math.min(quickMs, timeoutMs * 0.98), {
          outcome: Outcome.UP,
          statusCode: 200,
          error: null,
          isSilent: false,
        })
    }
  }

  return {
    isOnline: () => lastSaid,
    run(spec, cancellation) {
      targets.checks++
      const startedMs = machine.monotonicMs()
      const seen = look(targets.monitors[monitorIndexOf(spec)]!, spec.timeoutMs)
      return new Promise(resolve => {
        const end = (outcome: Outcome, statusCode: number | null, error: CheckError | null) => {
          const totalUs = Math.round((machine.monotonicMs() - startedMs) * 1000)
          const observation = { error, timings: TIMINGS, totalUs, statusCode }
          resolve({ observation, outcome, failedAssertions: [] } as unknown as Ran)
          time.settled()
        }
        const stop = machine.after(seen.afterMs, () => {
          const error = excused(seen, startedMs)
          end(error === ERRORS.offline ? Outcome.UNKNOWN : seen.outcome, seen.statusCode || null, error)
        })
        if (cancellation)
          cancellation.onCancel = () => {
            stop()
            end(Outcome.UNKNOWN, null, null)
          }
      })
    },
  }
}
