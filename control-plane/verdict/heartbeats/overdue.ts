import type { HeartbeatMonitor, LockedHeartbeat } from './types.ts'

/** How long a success may take to come, in ms (decisions 3.7); null when the monitor does not say. */
export function computeAllowedMs({ interval, grace }: HeartbeatMonitor): number | null {
  return interval === null ? null : (interval + (grace ?? 0)) * 1_000
}

/** True when a verdict is passed on a monitor: it is complete and not paused. */
export const isEvaluated = (monitor: HeartbeatMonitor) => !monitor.isPaused && monitor.interval !== null

/**
 * What to do with a heartbeat whose time seems to have come. `disarm`: it is paused, or was since the time was set, so
 * nothing is waited for before its next ping. `wait`: a ping came meanwhile.
 */
export function checkOverdue(
  { monitor, heartbeat, state }: LockedHeartbeat,
  nowMs: number,
): 'overdue' | 'wait' | 'disarm' {
  if (!isEvaluated(monitor) || state === null) return 'disarm'
  return heartbeat.dueAtMs !== null && heartbeat.dueAtMs <= nowMs ? 'overdue' : 'wait'
}
