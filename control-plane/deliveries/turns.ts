import { isSuccess } from './attempt.ts'
import { CHANNEL_CONCURRENCY, QUICK_MS } from './lanes.ts'
import type { Outcome } from './types.ts'

type Queue<Item> = { projectId: string; sending: number; waiting: Item[] }

/** Channels of which it is remembered that they answer quickly. */
const QUICK_KEPT = 4_096

/**
 * Who of what a process holds is sent now: at most eight of a channel at once (decisions 6.4), the others wait for their
 * turn. More are claimed only of channels whose receivers answer
 * quickly and well.
 */
export type Turns<Item> = {
  /** True: send it now. False: it waits, and comes out of `leave`. */
  enter(item: Item): boolean
  /** One was sent. What may be sent now, and what has to be given back: nothing waits behind a receiver in trouble. */
  leave(
    channelId: string,
    outcome: Pick<Outcome, 'responseCode' | 'durationMs' | 'chat'>,
  ): { next: Item[]; back: Item[] }
  /** Takes out all that waits. */
  withdraw(): Item[]
  /** sent and waiting */
  size(): number
  /** the same of each project that has any */
  held(): ReadonlyMap<string, number>
  /** channels of which more may be claimed than are sent at once: their last answer was quick and good */
  quickChannels(): string[]
}

export function createTurns<Item extends { channelId: string; projectId: string }>(): Turns<Item> {
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
    else if (quick.size < QUICK_KEPT) quick.add(channelId)
  }

  return {
    enter(item) {
      const queue = queues.get(item.channelId) ?? { projectId: item.projectId, sending: 0, waiting: [] }
      queues.set(item.channelId, queue)
      count(item.projectId, 1)
      const isNow = queue.sending < CHANNEL_CONCURRENCY
      if (isNow) queue.sending++
      else queue.waiting.push(item)
      return isNow
    },
    leave(channelId, outcome) {
      const queue = queues.get(channelId)!
      const isQuick = isSuccess(outcome) && outcome.durationMs <= QUICK_MS
      rate(channelId, isQuick)
      const next = isQuick ? queue.waiting.splice(0, 1) : []
      const back = isQuick ? [] : queue.waiting.splice(0)
      queue.sending += next.length - 1
      count(queue.projectId, -1 - back.length)
      if (queue.sending === 0) queues.delete(channelId)
      return { next, back }
    },
    withdraw() {
      const waiting = [...queues.values()].flatMap(queue => queue.waiting.splice(0))
      for (const { projectId } of waiting) count(projectId, -1)
      return waiting
    },
    size: () => size,
    held: () => held,
    quickChannels: () => [...quick],
  }
}
