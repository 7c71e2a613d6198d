import type { MonitorState } from '../core/types.ts'
import type { Heartbeat } from './types.ts'

/** The pings of one moment get times that are a millisecond apart. */
const MAX_AHEAD_MS = 60_000

/**
 * True if a queued ping that arrived at `arrivedAtMs` is older than one at `newestMs` (null: none). A time that is far
 * ahead of `nowMs` is from before PostgreSQL's clock was set back, and does not count.
 */
export const isOlder = (arrivedAtMs: number, newestMs: number | null, nowMs: number) =>
  newestMs !== null && arrivedAtMs < newestMs && newestMs <= nowMs + MAX_AHEAD_MS

/**
 * When the newest ping that showed whether the job succeeds arrived: the last success or the last reported failure;
 * null without one. A start or a log does not show it, and an overdue ping never arrived.
 */
export function findNewestDecidingMs({ lastSuccessAtMs }: Heartbeat, state: MonitorState | null): number | null {
  const last = state?.cells[0]?.last ?? null
  const failedAtMs =
    last === null || last.error === null || last.error.code === 'overdue'
      ? null
      : (last.arrivedAtMs ?? last.scheduledAtMs)
  if (lastSuccessAtMs === null || failedAtMs === null) return lastSuccessAtMs ?? failedAtMs
  return Math.max(lastSuccessAtMs, failedAtMs)
}
