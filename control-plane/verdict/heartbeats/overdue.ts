import type { HeartbeatMonitor, LockedHeartbeat } from './types.ts'

/** How long a success may take to arrive, in ms; null without an interval. */
export function computeAllowedMs({ interval, grace }: HeartbeatMonitor): number | null {
  return interval === null ? null : (interval + (grace ?? 0)) * 1_000
}

/** True if the pings of a monitor are evaluated: it is a heartbeat, has an interval, and is not paused. */
export const isEvaluated = ({ isHeartbeat, isPaused, interval }: HeartbeatMonitor) =>
  isHeartbeat && !isPaused && interval !== null

/**
 * What to do with a heartbeat that may be overdue. `disarm`: it is paused, or was paused since the deadline was set, or has
 * become a monitor of another type, so the deadline is removed until its next ping. `wait`: a ping has arrived in the meantime.
 */
export function checkOverdue(
  { monitor, heartbeat, state }: LockedHeartbeat,
  nowMs: number,
): 'overdue' | 'wait' | 'disarm' {
  if (!isEvaluated(monitor) || state === null) return 'disarm'
  return heartbeat.dueAtMs !== null && heartbeat.dueAtMs <= nowMs ? 'overdue' : 'wait'
}
