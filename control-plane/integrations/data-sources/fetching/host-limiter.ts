/** At once at one host: a slow one neither is hammered nor keeps the others waiting. */
const MAX_CONCURRENT_PER_HOST = 8
const MAX_WAITING_PER_HOST = 48
/** Of one project, asked and waiting: the hands of a process are not all held by one that names ever new hosts. */
const MAX_PER_PROJECT = 64
/** An answer that takes longer, its taking in included, is a slow one: nothing waits behind it. */
const MAX_QUICK_MS = 5_000

type Queue<Item> = { asked: number; waiting: { item: Item; sinceMs: number }[] }

/** Who of what a process has claimed is fetched now, by the hosts of their URLs and their projects. */
export type HostLimiter<Item> = {
  /** `wait`: it comes out of `leave` or `giveUp`. `full`: so many are there before it that it has to be put off. */
  enter(item: Item, nowMs: number): 'now' | 'wait' | 'full'
  /** One was fetched. Who is next, or, behind a slow host, who has to be put off. */
  leave(item: Item, tookMs: number): { next: Item[]; back: Item[] }
  /** Takes out what has waited since before a time. */
  removeExpired(beforeMs: number): Item[]
  waiting(): number
}

export function createHostLimiter<Item extends { url: string; projectId: string }>(): HostLimiter<Item> {
  const queues = new Map<string, Queue<Item>>()
  const heldOf = new Map<string, number>()
  const hold = ({ projectId }: Item, change: 1 | -1) => {
    const held = (heldOf.get(projectId) ?? 0) + change
    if (held === 0) heldOf.delete(projectId)
    else heldOf.set(projectId, held)
  }
  const hostOf = ({ url }: Item) => new URL(url).host

  return {
    enter(item, nowMs) {
      const host = hostOf(item)
      const queue = queues.get(host) ?? { asked: 0, waiting: [] }
      const isAsked = queue.asked < MAX_CONCURRENT_PER_HOST
      const isFull = !isAsked && queue.waiting.length >= MAX_WAITING_PER_HOST
      if (isFull || (heldOf.get(item.projectId) ?? 0) >= MAX_PER_PROJECT) return 'full'
      queues.set(host, queue)
      hold(item, 1)
      if (isAsked) {
        queue.asked++
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
      const back = isQuick ? [] : queue.waiting.splice(0)
      queue.asked += next.length - 1
      if (queue.asked === 0) queues.delete(host)
      hold(item, -1)
      for (const one of back) hold(one.item, -1)
      return { next: next.map(({ item }) => item), back: back.map(({ item }) => item) }
    },
    removeExpired(beforeMs) {
      return [...queues.values()].flatMap(queue => {
        const late = queue.waiting.filter(({ sinceMs }) => sinceMs < beforeMs)
        queue.waiting = queue.waiting.filter(({ sinceMs }) => sinceMs >= beforeMs)
        for (const { item } of late) hold(item, -1)
        return late.map(({ item }) => item)
      })
    },
    waiting: () => [...queues.values()].reduce((sum, { waiting }) => sum + waiting.length, 0),
  }
}
