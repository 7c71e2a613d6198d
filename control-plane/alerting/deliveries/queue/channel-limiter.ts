import { isSuccess } from '../attempts/retry-policy.ts'
import type { DeliveryOutcome } from '../types.ts'
import { MAX_CHANNEL_CONCURRENCY, MAX_FAST_RESPONSE_MS } from './lanes.ts'

type Queue<Item> = { projectId: string; sending: number; waiting: Item[] }

/** How many channels are remembered as fast. */
const MAX_FAST_CHANNELS = 4_096

/**
 * Decides which of the deliveries that a process holds are sent now: at most eight of a channel at the same time, the
 * others wait. More are claimed only for channels whose receivers respond quickly and with success
 * (docs/design/deliveries.md#claims).
 */
type ChannelLimiter<Item> = {
  /** True: send it now. False: it waits until `release` returns it. */
  admit(item: Item): boolean
  /** Records that one was sent. Returns what may be sent now and what goes back to its lane: nothing waits for a failing or slow receiver. */
  release(
    channelId: string,
    outcome: Pick<DeliveryOutcome, 'responseCode' | 'durationMs' | 'chat'>,
  ): { next: Item[]; back: Item[] }
  /** Removes and returns everything that waits. */
  drain(): Item[]
  /** sent and waiting */
  size(): number
  /** the same for each project that has any */
  sizeByProject(): ReadonlyMap<string, number>
  /** channels whose last response was quick and successful; more may be claimed for them than are sent at the same time */
  fastChannels(): string[]
}

export function createChannelLimiter<Item extends { channelId: string; projectId: string }>(): ChannelLimiter<Item> {
  const queues = new Map<string, Queue<Item>>()
  const fast = new Set<string>()
  const held = new Map<string, number>()
  let size = 0

  const count = (projectId: string, change: number) => {
    size += change
    const left = (held.get(projectId) ?? 0) + change
    if (left > 0) held.set(projectId, left)
    else held.delete(projectId)
  }

  const remember = (channelId: string, isFast: boolean) => {
    if (!isFast) fast.delete(channelId)
    else if (fast.size < MAX_FAST_CHANNELS) fast.add(channelId)
  }

  return {
    admit(item) {
      const queue = queues.get(item.channelId) ?? { projectId: item.projectId, sending: 0, waiting: [] }
      queues.set(item.channelId, queue)
      count(item.projectId, 1)
      const isAdmitted = queue.sending < MAX_CHANNEL_CONCURRENCY
      if (isAdmitted) queue.sending++
      else queue.waiting.push(item)
      return isAdmitted
    },
    release(channelId, outcome) {
      const queue = queues.get(channelId)!
      const isFast = isSuccess(outcome) && outcome.durationMs <= MAX_FAST_RESPONSE_MS
      remember(channelId, isFast)
      const next = isFast ? queue.waiting.splice(0, 1) : []
      const back = isFast ? [] : queue.waiting.splice(0)
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
    fastChannels: () => [...fast],
  }
}
