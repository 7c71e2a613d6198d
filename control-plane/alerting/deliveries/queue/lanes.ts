/** How many deliveries of one channel are sent at the same time (docs/design/deliveries.md#claims). */
export const MAX_CHANNEL_CONCURRENCY = 8

/**
 * How many deliveries of a channel one process may hold, including those that wait, while its receiver responds quickly.
 * Few transactions then carry many deliveries.
 */
export const MAX_CHANNEL_PREFETCH = 40

/** A response within this time counts as fast. */
export const MAX_FAST_RESPONSE_MS = 500

/** Times in milliseconds. Tests that do not depend on them make them longer. */
export type DeliveryTiming = {
  /** the time limit of an attempt, for the whole response */
  attemptTimeoutMs: number
  /** longer than the wait for a place and an attempt together; after it the worker that held the lane is considered dead */
  leaseMs: number
}

export const DELIVERY_TIMING: DeliveryTiming = { attemptTimeoutMs: 10_000, leaseMs: 30_000 }

/** How many deliveries one process holds. A receiver that hangs can occupy the places of its channel only. */
export const MAX_PROCESS_CONCURRENCY = 2_048

/**
 * How many mails one process holds: the ones on its ten connections to the mail server and a few that wait for one. The rest
 * waits in the lanes, where each project has its turn.
 */
export const MAX_PROCESS_MAILS = 80

/**
 * How many due channels of one project a round reads: `most`, fewer when many projects have lanes, but at least `least`.
 * `together` is the limit for all projects. The next round continues after them.
 */
export const PROJECT_CHANNELS = { most: 256, least: 32, together: 2_048 }

/** How many of these channels a round uses, over all projects. */
export const MAX_CHANNELS_PER_ROUND = 512

/**
 * How many more deliveries of a project a process may claim, when it holds `mine` of the project and `all` in total: at
 * most half of the places that other projects leave free, so that a project without deliveries always finds a place.
 */
export const computeFreeSlots = (mine: number, all: number): number =>
  Math.max(0, Math.ceil((MAX_PROCESS_CONCURRENCY - (all - mine)) / 2) - mine)

/** How many lanes one round claims at most, so that rounds stay short. */
export const MAX_CLAIMED_LANES = 256

/**
 * SQL: when a new lane is due. It is some seconds in the past, because the clock of the machine that queues the delivery
 * may be ahead of the clock of the machine that sends it.
 */
export const DUE_NOW_SQL = `:now::timestamptz - interval '5 seconds'`

export type Lane = { channelId: string; subject: string }
