/** How many deliveries of one channel are sent at once (decisions 6.4). */
export const CHANNEL_CONCURRENCY = 8

/** Longer than any attempt can take; past it the worker that held the lane is dead (decisions 6.4). */
export const LEASE_MS = 30_000

/** What one process sends at once. A receiver that hangs holds a channel's share of it, never all. */
export const PROCESS_CONCURRENCY = 512

export type Lane = { channelId: string; subject: string }
