/** What shows that a partition's reader reads. Times are of the monotonic clock, in ms. */
export type ReaderLiveness = {
  /** when it began, or ended its last work on something that came */
  atMs: number
  /** since when it works on what has come; null while it waits for more */
  workingSinceMs: number | null
}

/** A server that has nothing to send says so every two seconds. */
const SERVER_SILENCE_TIMEOUT_MS = 5_000
/** Longer than any step of work may take: each statement has a limit of its own. */
const WORK_TIMEOUT_MS = 30_000

/** Whether a reader reads: it works, or the server was heard on its consumer (`heardAtMs`) a short time ago. */
export function isReaderAlive({ atMs, workingSinceMs }: ReaderLiveness, heardAtMs: number, nowMs: number): boolean {
  if (workingSinceMs !== null) return nowMs - workingSinceMs < WORK_TIMEOUT_MS
  return nowMs - Math.max(atMs, heardAtMs) < SERVER_SILENCE_TIMEOUT_MS
}

/** Whether NATS answers this process: when it last did, and since when without a gap. */
export type NatsReachability = { answeredMs: number; sinceMs: number }

/** A process asks every two seconds. */
const MAX_ANSWER_GAP_MS = 5_000
/**
 * How long NATS has to answer before a process takes partitions: where it was away for all, their owners are back by
 * then and keep them.
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
