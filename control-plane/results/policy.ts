import type { MonitorStatus } from '../monitors/types.ts'
import type { Policy } from '../verdict/types.ts'

/** What the verdict reads of a monitor's row. */
export type WatchedMonitor = {
  id: string
  configVersion: number
  regions: string[]
  retryCount: number
  intervalSeconds: number
  timeoutMs: number
  status: MonitorStatus | null
  isPaused: boolean
  isDeleted: boolean
}

/** The policy of a monitor that probes check; a timeout above the interval is cut to it (decisions 3.2). */
export function policyOf(monitor: WatchedMonitor): Policy {
  const intervalMs = monitor.intervalSeconds * 1_000
  return {
    configVersion: monitor.configVersion,
    regions: monitor.regions,
    retryCount: monitor.retryCount,
    intervalMs,
    timeoutMs: Math.min(monitor.timeoutMs, intervalMs),
    expires: true,
  }
}
