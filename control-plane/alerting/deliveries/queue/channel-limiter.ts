import { createKeyedLimiter } from '../../../foundation/platform/concurrency/keyed-limiter.ts'
import { isSuccess } from '../attempts/retry-policy.ts'
import type { DeliveryOutcome } from '../types.ts'
import { MAX_CHANNEL_CONCURRENCY, MAX_FAST_RESPONSE_MS } from './lanes.ts'

/** How many channels are remembered as fast. */
const MAX_FAST_CHANNELS = 4_096

/**
 * Decides which of the deliveries that a process holds are sent now: at most eight of a channel at the same time, the
 * others wait. It is a keyed limiter that also judges the outcomes of deliveries: more are claimed only for channels whose
 * receivers respond quickly and with success (docs/design/deliveries.md#claims).
 */
export type ChannelLimiter<Item> = {
  /** True: send it now. False: it waits until `release` returns it. */
  admit(item: Item): boolean
  /**
   * Records that one was sent; `outcome` null: it could not be sent now. `tookMs`: with the wait for a connection. Returns what
   * may be sent now and what goes back to its lane: nothing waits for a failing or slow receiver.
   */
  release(
    item: Item,
    outcome: Pick<DeliveryOutcome, 'responseCode' | 'chat'> | null,
    tookMs: number,
  ): { next: Item[]; back: Item[] }
  /** Removes and returns everything that waits. */
  drain(): Item[]
  /** how many wait */
  waiting(): number
  /** how many are sent and wait, for each project that has any */
  sizeByProject(): ReadonlyMap<string, number>
  /** channels whose last response was quick and successful; more may be claimed for them than are sent at the same time */
  fastChannels(): string[]
}

export function createChannelLimiter<Item extends { channelId: string; projectId: string }>(): ChannelLimiter<Item> {
  const limiter = createKeyedLimiter<Item>({
    getKey: ({ channelId }) => channelId,
    getOwner: ({ projectId }) => projectId,
    maxConcurrentPerKey: MAX_CHANNEL_CONCURRENCY,
  })
  const fast = new Set<string>()

  const remember = (channelId: string, isFast: boolean) => {
    if (!isFast) fast.delete(channelId)
    else if (fast.size < MAX_FAST_CHANNELS) fast.add(channelId)
  }

  return {
    // no delivery waits for a time, so the limiter needs no clock
    admit: item => limiter.enter(item, 0) === 'now',
    release(item, outcome, tookMs) {
      const isFast = outcome !== null && isSuccess(outcome) && tookMs <= MAX_FAST_RESPONSE_MS
      remember(item.channelId, isFast)
      return limiter.leave(item, isFast)
    },
    drain: () => limiter.removeWaiting(Number.POSITIVE_INFINITY),
    waiting: limiter.waiting,
    sizeByProject: limiter.countByOwner,
    fastChannels: () => [...fast],
  }
}
