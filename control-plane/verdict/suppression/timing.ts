import { CONFIRM_BETTER_DELAY_MS, sumRecheckDelaysMs } from '../../../shared/checks/rechecks.ts'

/** The settings of a monitor that determine how long its checks take. Heartbeats have their own interval. */
export type CheckTiming = {
  intervalSeconds: number
  timeoutMs: number
  retryCount: number
  /** seconds */
  heartbeatInterval: number | null
  isHeartbeat: boolean
}

const MAX_PARENT_PENDING_MS = 60_000
const MAX_GRACE_MS = 3_600_000 + 130_000
/** Time from the probe to the verdict. */
const RESULT_LATENCY_MS = 5_000

const getTimeoutMs = ({ timeoutMs, intervalSeconds }: CheckTiming) => Math.min(timeoutMs, intervalSeconds * 1_000)

/** How long a monitor with a failed check may need until it is down, in ms, at most a minute. */
export function computeParentPendingMs(timing: CheckTiming): number {
  return Math.min(
    MAX_PARENT_PENDING_MS,
    sumRecheckDelaysMs(timing.retryCount) + (timing.retryCount + 1) * getTimeoutMs(timing) + RESULT_LATENCY_MS,
  )
}

/** How long a recovered monitor may need until it is up, in ms: its next check and the confirming one. */
export function computeGraceMs(timing: CheckTiming): number {
  if (timing.isHeartbeat) return Math.min(MAX_GRACE_MS, (timing.heartbeatInterval ?? 0) * 1_000)
  const checksMs = timing.intervalSeconds * 1_000 + CONFIRM_BETTER_DELAY_MS + 2 * getTimeoutMs(timing)
  return Math.min(MAX_GRACE_MS, checksMs + RESULT_LATENCY_MS)
}
