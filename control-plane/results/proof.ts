/** What shows that a partition's reader reads. Times are of the monotonic clock, in ms. */
export type Proof = {
  /** when it began, or ended its last work on something that came */
  atMs: number
  /** since when it works on what has come; null while it waits for more */
  workingSinceMs: number | null
}

/** A server that has nothing to send says so every two seconds. */
const SILENCE_LIMIT_MS = 5_000
/** Longer than any step of work may take: each statement has a limit of its own. */
const WORK_LIMIT_MS = 30_000

/** Whether a reader reads: it works, or the server was heard on its consumer (`heardAtMs`) a short time ago. */
export function isProven({ atMs, workingSinceMs }: Proof, heardAtMs: number, nowMs: number): boolean {
  if (workingSinceMs !== null) return nowMs - workingSinceMs < WORK_LIMIT_MS
  return nowMs - Math.max(atMs, heardAtMs) < SILENCE_LIMIT_MS
}

/** Whether NATS answers this process: when it last did, and since when without a gap. */
export type Reach = { answeredMs: number; sinceMs: number }

/** A process asks every two seconds. */
const GAP_MS = 5_000
/**
 * How long NATS has to answer before a process takes partitions: where it was away for all, their owners are back by
 * then and keep them.
 */
const SETTLED_MS = 6_000

export const answered = ({ answeredMs, sinceMs }: Reach, nowMs: number): Reach => ({
  answeredMs: nowMs,
  sinceMs: nowMs - answeredMs > GAP_MS ? nowMs : sinceMs,
})

export const isAnswering = ({ answeredMs }: Reach, nowMs: number): boolean => nowMs - answeredMs <= GAP_MS

export const isSettled = (reach: Reach, nowMs: number): boolean =>
  isAnswering(reach, nowMs) && nowMs - reach.sinceMs >= SETTLED_MS
