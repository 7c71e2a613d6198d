import type { MonitorStatus } from '../monitors/types.ts'
import { createOneOfEach } from '../platform/one-of-each.ts'
import type { Absences, Policy } from '../verdict/types.ts'

/** What the verdict reads of a monitor's row. */
export type WatchedMonitor = {
  id: string
  configVersion: number
  /** config version in which the target or the assertions changed last */
  streaksSince: number
  regions: string[]
  retryCount: number
  intervalSeconds: number
  timeoutMs: number
  witness?: boolean
  status: MonitorStatus | null
  isPaused: boolean
  isDeleted: boolean
}

const onePolicy = createOneOfEach<Policy>(10_000)

/**
 * The policy of a monitor that probes check; a timeout above the interval is cut to it (decisions 3.2). Monitors that are
 * decided alike share it.
 */
export function policyOf(monitor: WatchedMonitor): Policy {
  const { configVersion, streaksSince, regions, retryCount, intervalSeconds, timeoutMs, witness = false } = monitor
  const intervalMs = intervalSeconds * 1_000
  const timing = { retryCount, intervalMs, timeoutMs: Math.min(timeoutMs, intervalMs), expires: true }
  return shared({ configVersion, streaksSince, regions, ...timing, ...(witness && { witness }) })
}

/** The same policy with those of its regions that have no probe; null: all have one. */
export function withAbsences(policy: Policy, own: { absences: Absences; key: string } | null): Policy {
  const { absences: _, ...settings } = policy
  return own ? shared({ ...settings, absences: own.absences }, own.key) : shared(settings)
}

/** `absences`: names those of the policy. */
function shared(policy: Policy, absences = ''): Policy {
  const { configVersion, streaksSince, regions, retryCount, intervalMs, timeoutMs, witness } = policy
  const key = [configVersion, streaksSince, retryCount, intervalMs, timeoutMs, witness, ...regions, '/', absences]
  return onePolicy(key.join(' '), () => policy)
}
