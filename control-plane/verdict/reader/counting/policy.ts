import { createInterner } from '../../../foundation/platform/cache/intern.ts'
import type { MonitorStatus } from '../../../monitoring/monitors/types.ts'
import type { Policy, RegionAbsences } from '../../core/types.ts'

/** The columns of a monitor that the verdict reads. */
export type VerdictMonitorRow = {
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

const onePolicy = createInterner<Policy>(10_000)

/**
 * The policy of a monitor that probes check. Limits the timeout to the interval. Monitors with equal policies share it.
 */
export function buildPolicy(monitor: VerdictMonitorRow): Policy {
  const { configVersion, streaksSince, regions, retryCount, intervalSeconds, timeoutMs, witness = false } = monitor
  const intervalMs = intervalSeconds * 1_000
  const timing = { retryCount, intervalMs, timeoutMs: Math.min(timeoutMs, intervalMs), expires: true }
  return internPolicy({ configVersion, streaksSince, regions, ...timing, ...(witness && { witness }) })
}

/** The policy with the absences of its regions; null if all regions have a probe. */
export function withAbsences(policy: Policy, own: { absences: RegionAbsences; key: string } | null): Policy {
  const { absences: _, ...settings } = policy
  return own ? internPolicy({ ...settings, absences: own.absences }, own.key) : internPolicy(settings)
}

/** `absences`: the key of the policy's absences. */
function internPolicy(policy: Policy, absences = ''): Policy {
  const { configVersion, streaksSince, regions, retryCount, intervalMs, timeoutMs, witness } = policy
  const key = [configVersion, streaksSince, retryCount, intervalMs, timeoutMs, witness, ...regions, '/', absences]
  return onePolicy(key.join(' '), () => policy)
}
