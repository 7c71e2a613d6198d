/** At once at one host: a slow one neither is hammered nor keeps the others waiting. */
const ASKED_AT_ONCE = 8
const MOST_WAITING = 48
/** An answer that takes longer, its taking in included, is a slow one: nothing waits behind it. */
const QUICK_MS = 5_000

type Queue<Item> = { asked: number; waiting: { item: Item; sinceMs: number }[] }

/** Who of what a process has claimed is fetched now, by the hosts of their URLs. */
export type Hosts<Item> = {
  /** `wait`: it comes out of `leave` or `giveUp`. `full`: so many wait there that it has to be put off. */
  enter(item: Item, nowMs: number): 'now' | 'wait' | 'full'
  /** One was fetched. Who is next, or, behind a slow host, who has to be put off. */
  leave(item: Item, tookMs: number): { next: Item[]; back: Item[] }
  /** Takes out what has waited since before a time. */
  giveUp(beforeMs: number): Item[]
  waiting(): number
}

export function createHosts<Item extends { url: string }>(): Hosts<Item> {
  const queues = new Map<string, Queue<Item>>()
  const hostOf = ({ url }: Item) => new URL(url).host

  return {
    enter(item, nowMs) {
      const host = hostOf(item)
      const queue = queues.get(host) ?? { asked: 0, waiting: [] }
      queues.set(host, queue)
      if (queue.asked < ASKED_AT_ONCE) {
        queue.asked++
        return 'now'
      }
      if (queue.waiting.length >= MOST_WAITING) return 'full'
      queue.waiting.push({ item, sinceMs: nowMs })
      return 'wait'
    },
    leave(item, tookMs) {
      const host = hostOf(item)
      const queue = queues.get(host)!
      const isQuick = tookMs <= QUICK_MS
      const next = isQuick ? queue.waiting.splice(0, 1) : []
      const back = isQuick ? [] : queue.waiting.splice(0)
      queue.asked += next.length - 1
      if (queue.asked === 0) queues.delete(host)
      return { next: next.map(({ item }) => item), back: back.map(({ item }) => item) }
    },
    giveUp(beforeMs) {
      return [...queues.values()].flatMap(queue => {
        const late = queue.waiting.filter(({ sinceMs }) => sinceMs < beforeMs)
        queue.waiting = queue.waiting.filter(({ sinceMs }) => sinceMs >= beforeMs)
        return late.map(({ item }) => item)
      })
    },
    waiting: () => [...queues.values()].reduce((sum, { waiting }) => sum + waiting.length, 0),
  }
}
