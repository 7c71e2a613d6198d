/** What shows that the reader of a partition works. Times of the monotonic clock, in ms. */
export type ReaderLiveness = {
  /** when it began, or last finished processing messages */
  atMs: number
  /** since when it processes messages; null while it waits for more */
  workingSinceMs: number | null
}

/** A server without messages sends an idle heartbeat every two seconds. */
const SERVER_SILENCE_TIMEOUT_MS = 5_000
/** Longer than any step of work may take, because each statement has its own timeout. */
const WORK_TIMEOUT_MS = 30_000

/** Whether a reader works: it processes messages, or received something from the server recently (`receivedAtMs`). */
export function isReaderAlive({ atMs, workingSinceMs }: ReaderLiveness, receivedAtMs: number, nowMs: number): boolean {
  if (workingSinceMs !== null) return nowMs - workingSinceMs < WORK_TIMEOUT_MS
  return nowMs - Math.max(atMs, receivedAtMs) < SERVER_SILENCE_TIMEOUT_MS
}

/**
 * Whether the consumer of a silent reader may be opened again: not while it may still be waiting for the first heartbeat. If
 * it were opened again every two seconds, it would never receive one.
 */
export const mayReopen = (openedAtMs: number, nowMs: number): boolean => nowMs - openedAtMs >= SERVER_SILENCE_TIMEOUT_MS

/** When NATS last answered this process, and since when without a gap. */
export type NatsReachability = { answeredMs: number; sinceMs: number }

/** NATS is asked every two seconds. */
const MAX_ANSWER_GAP_MS = 5_000
/**
 * How long NATS must have answered before a process takes partitions. If it was unavailable for all processes, the
 * owners are back by then and keep their partitions.
 */
const MIN_REACHABLE_MS = 6_000

export const recordAnswer = ({ answeredMs, sinceMs }: NatsReachability, nowMs: number): NatsReachability => ({
  answeredMs: nowMs,
  sinceMs: nowMs - answeredMs > MAX_ANSWER_GAP_MS ? nowMs : sinceMs,
})

export const isReachable = ({ answeredMs }: NatsReachability, nowMs: number): boolean =>
  nowMs - answeredMs <= MAX_ANSWER_GAP_MS

export const isStableReachable = (reach: NatsReachability, nowMs: number): boolean =>
  isReachable(reach, nowMs) && nowMs - reach.sinceMs >= MIN_REACHABLE_MS
