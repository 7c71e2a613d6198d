/** Concurrent fetches from one host. */
const MAX_CONCURRENT_PER_HOST = 8
const MAX_WAITING_PER_HOST = 48
/** Fetches of one project, in flight and waiting, so that a project with many hosts does not use all capacity. */
const MAX_PER_PROJECT = 64
/** A fetch that takes longer, including applying its result, is slow: no source waits behind it. */
const MAX_QUICK_MS = 5_000

type Queue<Item> = { inFlight: number; waiting: { item: Item; sinceMs: number }[] }

/** Decides which claimed sources are fetched now, by the hosts of their URLs and by their projects. */
type HostLimiter<Item> = {
  /** `wait`: it is returned later by `leave` or `removeExpired`. `full`: it must be deferred. */
  enter(item: Item, nowMs: number): 'now' | 'wait' | 'full'
  /** A fetch ended. Returns the item to fetch next, or, behind a slow host, the items to defer. */
  leave(item: Item, tookMs: number): { next: Item[]; deferred: Item[] }
  /** Removes and returns the items that have waited since before a time. */
  removeExpired(beforeMs: number): Item[]
  waiting(): number
}

export function createHostLimiter<Item extends { url: string; projectId: string }>(): HostLimiter<Item> {
  const queues = new Map<string, Queue<Item>>()
  const countOf = new Map<string, number>()
  const count = ({ projectId }: Item, change: 1 | -1) => {
    const items = (countOf.get(projectId) ?? 0) + change
    if (items === 0) countOf.delete(projectId)
    else countOf.set(projectId, items)
  }
  const hostOf = ({ url }: Item) => new URL(url).host

  return {
    enter(item, nowMs) {
      const host = hostOf(item)
      const queue = queues.get(host) ?? { inFlight: 0, waiting: [] }
      const isFree = queue.inFlight < MAX_CONCURRENT_PER_HOST
      const isFull = !isFree && queue.waiting.length >= MAX_WAITING_PER_HOST
      if (isFull || (countOf.get(item.projectId) ?? 0) >= MAX_PER_PROJECT) return 'full'
      queues.set(host, queue)
      count(item, 1)
      if (isFree) {
        queue.inFlight++
        return 'now'
      }
      queue.waiting.push({ item, sinceMs: nowMs })
      return 'wait'
    },
    leave(item, tookMs) {
      const host = hostOf(item)
      const queue = queues.get(host)!
      const isQuick = tookMs <= MAX_QUICK_MS
      const next = isQuick ? queue.waiting.splice(0, 1) : []
      const deferred = isQuick ? [] : queue.waiting.splice(0)
      queue.inFlight += next.length - 1
      if (queue.inFlight === 0) queues.delete(host)
      count(item, -1)
      for (const entry of deferred) count(entry.item, -1)
      return { next: next.map(({ item }) => item), deferred: deferred.map(({ item }) => item) }
    },
    removeExpired(beforeMs) {
      return [...queues.values()].flatMap(queue => {
        const expired = queue.waiting.filter(({ sinceMs }) => sinceMs < beforeMs)
        queue.waiting = queue.waiting.filter(({ sinceMs }) => sinceMs >= beforeMs)
        for (const { item } of expired) count(item, -1)
        return expired.map(({ item }) => item)
      })
    },
    waiting: () => [...queues.values()].reduce((sum, { waiting }) => sum + waiting.length, 0),
  }
}
