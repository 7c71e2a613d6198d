/** How many deliveries of one channel are sent at once (decisions 6.4). */
export const CHANNEL_CONCURRENCY = 8

/**
 * How many of a channel one process may hold, those that wait for their turn included, while its receiver answers quickly:
 * then the database's time for a round is not the receiver's.
 */
export const CHANNEL_LOOK_AHEAD = 40

/** An answer that took no longer is a quick one. */
export const QUICK_MS = 500

/** Longer than a wait for a turn and an attempt can take; past it the worker that held the lane is dead (decisions 6.4). */
export const LEASE_MS = 30_000

/** What one process holds at once. A receiver that hangs has a channel's share of it, never all. */
export const PROCESS_CONCURRENCY = 2_048

/** What one round claims at most, so that rounds stay short. */
export const CLAIM_LIMIT = 256

/**
 * SQL: when a lane that is new is due. Some seconds ago, because whoever queues a delivery may be another machine, whose
 * clock is ahead of the one that sends it.
 */
export const DUE_AT_ONCE = `:now::timestamptz - interval '5 seconds'`

export type Lane = { channelId: string; subject: string }
