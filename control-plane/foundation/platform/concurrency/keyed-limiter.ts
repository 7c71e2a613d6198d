import { createKeyCounter } from './key-counter.ts'

type KeyedLimiterOptions<Item> = {
  /** what an item is limited by, such as the host that receives its request */
  getKey: (item: Item) => string
  /** whose item it is: a project */
  getOwner: (item: Item) => string
  maxConcurrentPerKey: number
  /** defaults to any number */
  maxWaitingPerKey?: number
  /** running and waiting; defaults to any number */
  maxPerOwner?: number
}

/** Decides which of the items that a process has claimed run now, at most some of each key. */
export type KeyedLimiter<Item> = {
  /**
   * `now`: the item has to be started. `wait`: `leave` or `removeWaiting` returns it later. `full`: its key or its owner has
   * no place, and the limiter does not hold it. `nowMs` is for `removeWaiting`.
   */
  enter(item: Item, nowMs: number): 'now' | 'wait' | 'full'
  /**
   * Call it when an item that was started has ended. `next` has to be started: after a quick end, the item of the key that
   * has waited longest. `back` is given up: after another end, everything that waits for the key, because nothing waits
   * for a slow or failing receiver.
   */
  leave(item: Item, isQuick: boolean): { next: Item[]; back: Item[] }
  /** Removes and returns the items that have waited since before a time. */
  removeWaiting(beforeMs: number): Item[]
  /** how many items wait */
  waiting(): number
  /** how many items run and wait, for each owner that has any; always current */
  countByOwner(): ReadonlyMap<string, number>
}

type WaitingItem<Item> = { item: Item; sinceMs: number }
type Queue<Item> = { running: number; waiting: WaitingItem<Item>[] }

/**
 * Limits what runs at the same time for each key. It runs nothing: the caller starts what `enter` and
 * `leave` return. See createFairLimiter for callers that wait for their turn.
 */
export function createKeyedLimiter<Item>(options: KeyedLimiterOptions<Item>): KeyedLimiter<Item> {
  const {
    getKey,
    getOwner,
    maxConcurrentPerKey,
    maxWaitingPerKey = Number.POSITIVE_INFINITY,
    maxPerOwner = Number.POSITIVE_INFINITY,
  } = options
  const queues = new Map<string, Queue<Item>>()
  const owners = createKeyCounter()
  let waiting = 0

  /** Stops holding items that waited. */
  const giveUp = (entries: WaitingItem<Item>[]): Item[] => {
    waiting -= entries.length
    for (const { item } of entries) owners.add(getOwner(item), -1)
    return entries.map(({ item }) => item)
  }

  return {
    enter(item, nowMs) {
      const key = getKey(item)
      const queue = queues.get(key) ?? { running: 0, waiting: [] }
      const isFree = queue.running < maxConcurrentPerKey
      const isFull = !isFree && queue.waiting.length >= maxWaitingPerKey
      if (isFull || owners.get(getOwner(item)) >= maxPerOwner) return 'full'
      queues.set(key, queue)
      owners.add(getOwner(item), 1)
      if (isFree) {
        queue.running++
        return 'now'
      }
      waiting++
      queue.waiting.push({ item, sinceMs: nowMs })
      return 'wait'
    },
    leave(item, isQuick) {
      const key = getKey(item)
      const queue = queues.get(key)!
      const next = isQuick ? queue.waiting.splice(0, 1) : []
      const back = isQuick ? [] : queue.waiting.splice(0)
      waiting -= next.length
      queue.running += next.length - 1
      if (queue.running === 0) queues.delete(key)
      owners.add(getOwner(item), -1)
      return { next: next.map(one => one.item), back: giveUp(back) }
    },
    removeWaiting: beforeMs =>
      [...queues.values()].flatMap(queue => {
        const old = queue.waiting.filter(({ sinceMs }) => sinceMs < beforeMs)
        queue.waiting = queue.waiting.filter(({ sinceMs }) => sinceMs >= beforeMs)
        return giveUp(old)
      }),
    waiting: () => waiting,
    countByOwner: () => owners.counts,
  }
}
