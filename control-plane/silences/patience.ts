import { recheckWaitsMs } from '../../shared/rechecks.ts'

/** What of a monitor's configuration says how long its checks take. Heartbeats have an interval of their own. */
export type Pace = {
  intervalSeconds: number
  timeoutMs: number
  retryCount: number
  /** seconds */
  heartbeatInterval: number | null
  isHeartbeat: boolean
}

const LONGEST_DOUBT_MS = 60_000
const LONGEST_GRACE_MS = 3_600_000 + 130_000
/** from the probe to the verdict */
const ON_THE_WAY_MS = 5_000

const timeoutOf = ({ timeoutMs, intervalSeconds }: Pace) => Math.min(timeoutMs, intervalSeconds * 1_000)

/** How long a monitor with a failed check can need until it is down, in ms, at most a minute. */
export function doubtMsOf(pace: Pace): number {
  return Math.min(
    LONGEST_DOUBT_MS,
    recheckWaitsMs(pace.retryCount) + (pace.retryCount + 1) * timeoutOf(pace) + ON_THE_WAY_MS,
  )
}

/** How long a monitor that works again can need until it is up, in ms: its next check, and the one that confirms it. */
export function graceMsOf(pace: Pace): number {
  if (pace.isHeartbeat) return Math.min(LONGEST_GRACE_MS, (pace.heartbeatInterval ?? 0) * 1_000)
  return Math.min(LONGEST_GRACE_MS, pace.intervalSeconds * 1_000 + 5_000 + 2 * timeoutOf(pace) + ON_THE_WAY_MS)
}
