import { isSuccess } from '../attempts/retry-policy.ts'
import type { DeliveryOutcome } from '../types.ts'
import { MAX_CHANNEL_CONCURRENCY, MAX_FAST_RESPONSE_MS } from './lanes.ts'

type Queue<Item> = { projectId: string; sending: number; waiting: Item[] }

/** Channels of which it is remembered that they answer quickly. */
const MAX_FAST_CHANNELS = 4_096

/**
 * Who of what a process holds is sent now: at most eight of a channel at once (decisions 6.4), the others wait for their
 * turn. More are claimed only of channels whose receivers answer
 * quickly and well.
 */
export type ChannelLimiter<Item> = {
  /** True: send it now. False: it waits, and comes out of `leave`. */
  admit(item: Item): boolean
  /** One was sent. What may be sent now, and what has to be given back: nothing waits behind a receiver in trouble. */
  release(
    channelId: string,
    outcome: Pick<DeliveryOutcome, 'responseCode' | 'durationMs' | 'chat'>,
  ): { next: Item[]; back: Item[] }
  /** Takes out all that waits. */
  drain(): Item[]
  /** sent and waiting */
  size(): number
  /** the same of each project that has any */
  sizeByProject(): ReadonlyMap<string, number>
  /** channels of which more may be claimed than are sent at once: their last answer was quick and good */
  fastChannels(): string[]
}

export function createChannelLimiter<Item extends { channelId: string; projectId: string }>(): ChannelLimiter<Item> {
  const queues = new Map<string, Queue<Item>>()
  const quick = new Set<string>()
  const held = new Map<string, number>()
  let size = 0

  const count = (projectId: string, change: number) => {
    size += change
    const left = (held.get(projectId) ?? 0) + change
    if (left > 0) held.set(projectId, left)
    else held.delete(projectId)
  }

  const rate = (channelId: string, isQuick: boolean) => {
    if (!isQuick) quick.delete(channelId)
    else if (quick.size < MAX_FAST_CHANNELS) quick.add(channelId)
  }

  return {
    admit(item) {
      const queue = queues.get(item.channelId) ?? { projectId: item.projectId, sending: 0, waiting: [] }
      queues.set(item.channelId, queue)
      count(item.projectId, 1)
      const isNow = queue.sending < MAX_CHANNEL_CONCURRENCY
      if (isNow) queue.sending++
      else queue.waiting.push(item)
      return isNow
    },
    release(channelId, outcome) {
      const queue = queues.get(channelId)!
      const isQuick = isSuccess(outcome) && outcome.durationMs <= MAX_FAST_RESPONSE_MS
      rate(channelId, isQuick)
      const next = isQuick ? queue.waiting.splice(0, 1) : []
      const back = isQuick ? [] : queue.waiting.splice(0)
      queue.sending += next.length - 1
      count(queue.projectId, -1 - back.length)
      if (queue.sending === 0) queues.delete(channelId)
      return { next, back }
    },
    drain() {
      const waiting = [...queues.values()].flatMap(queue => queue.waiting.splice(0))
      for (const { projectId } of waiting) count(projectId, -1)
      return waiting
    },
    size: () => size,
    sizeByProject: () => held,
    fastChannels: () => [...quick],
  }
}
