/** An item of a queue. It contains its due time and index, so that moving it needs no search. */
export type QueueItem = {
  /** ms since 1970 by the control plane's clock */
  dueMs: number
  /** index in the heap, -1 when not queued; managed by the queue */
  heapIndex: number
}

/** A binary heap ordered by due time. */
export type DueQueue<T extends QueueItem> = {
  /** Adds an item, or moves it when it is already queued. */
  put: (item: T, dueMs: number) => void
  remove: (item: T) => void
  earliest: () => T | undefined
  countDue: (nowMs: number) => number
}

export function createDueQueue<T extends QueueItem>(): DueQueue<T> {
  const heap: T[] = []

  function set(place: number, item: T): void {
    heap[place] = item
    item.heapIndex = place
  }

  function rise(item: T): void {
    let place = item.heapIndex
    while (place > 0) {
      const parent = heap[(place - 1) >> 1]!
      if (parent.dueMs <= item.dueMs) break
      const above = parent.heapIndex
      set(place, parent)
      place = above
    }
    set(place, item)
  }

  function sink(item: T): void {
    let place = item.heapIndex
    for (;;) {
      const left = heap[2 * place + 1]
      const right = heap[2 * place + 2]
      const child = right && left && right.dueMs < left.dueMs ? right : left
      if (!child || child.dueMs >= item.dueMs) break
      const below = child.heapIndex
      set(place, child)
      place = below
    }
    set(place, item)
  }

  function remove(item: T): void {
    if (item.heapIndex < 0) return
    const last = heap.pop()!
    if (last !== item) {
      last.heapIndex = item.heapIndex
      heap[last.heapIndex] = last
      rise(last)
      sink(last)
    }
    item.heapIndex = -1
  }

  return {
    remove,
    put(item, dueMs) {
      remove(item)
      item.dueMs = dueMs
      item.heapIndex = heap.length
      heap.push(item)
      rise(item)
    },
    earliest: () => heap[0],
    countDue: nowMs => heap.reduce((count, item) => (item.dueMs <= nowMs ? count + 1 : count), 0),
  }
}
