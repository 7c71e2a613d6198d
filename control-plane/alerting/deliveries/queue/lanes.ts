/** How many deliveries of one channel are sent at once (decisions 6.4). */
export const MAX_CHANNEL_CONCURRENCY = 8

/**
 * How many of a channel one process may hold, those that wait for their turn included, while its receiver answers quickly:
 * then the database's time for a round is not the receiver's.
 */
export const MAX_CHANNEL_PREFETCH = 40

/** An answer that took no longer is a quick one. */
export const MAX_FAST_RESPONSE_MS = 500

/** Longer than a wait for a turn and an attempt can take; past it the worker that held the lane is dead (decisions 6.4). */
export const LEASE_MS = 30_000

/** What one process holds at once. A receiver that hangs has a channel's share of it, never all. */
export const MAX_PROCESS_CONCURRENCY = 2_048

/**
 * So many channels of one project a round looks at, fewer where many projects have lanes. Where more are due, the next
 * round goes on after them.
 */
export const PROJECT_CHANNELS = { most: 256, least: 32, together: 2_048 }

/** Of these it takes so many of all projects. */
export const MAX_CHANNELS_PER_ROUND = 512

/**
 * How many more deliveries of a project, of which a process holds `mine` of `all`, it may take: never more than half of
 * what the others leave, so that there is always a place for a project that has none.
 */
export const computeFreeSlots = (mine: number, all: number): number =>
  Math.max(0, Math.ceil((MAX_PROCESS_CONCURRENCY - (all - mine)) / 2) - mine)

/** What one round claims at most, so that rounds stay short. */
export const MAX_CLAIMED_LANES = 256

/**
 * SQL: when a lane that is new is due. Some seconds ago, because whoever queues a delivery may be another machine, whose
 * clock is ahead of the one that sends it.
 */
export const DUE_NOW_SQL = `:now::timestamptz - interval '5 seconds'`

export type Lane = { channelId: string; subject: string }
