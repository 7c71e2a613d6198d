/** Resolves with the answer for the item when its group is done. Rejects if the item or its group failed. */
type GroupCommit<Item, Answer> = (item: Item) => Promise<Answer>

type WaitingItem<Item, Answer> = { item: Item; resolve: (answer: Answer) => void; reject: (error: unknown) => void }

type GroupLimits = {
  /** items in a group */
  size: number
  /** concurrent groups; a second one starts only when the first is stuck */
  groups: number
  /** items that may wait for a group */
  waiting: number
  /** the error for an item when too many wait */
  full: () => Error
  /** resolves after the time after which a running group counts as stuck */
  untilStuck: () => Promise<void>
}

/**
 * Collects items while a group is in progress, and processes them together as the next group. A single item does not
 * wait; in a burst, items share the cost of a commit. `work` returns answers in the order of its items. An Error among
 * them rejects its item; an exception rejects the whole group.
 */
export function createGroupCommit<Item, Answer>(
  work: (items: Item[]) => Promise<(Answer | Error)[]>,
  { size, groups, waiting, full, untilStuck }: GroupLimits,
): GroupCommit<Item, Answer> {
  let queue: WaitingItem<Item, Answer>[] = []
  let running = 0
  let ended = 0
  let isWaiting = false

  const runGroup = async () => {
    const group = queue.slice(0, size)
    queue = queue.slice(size)
    running++
    try {
      const answers = await work(group.map(({ item }) => item))
      for (const [i, { resolve, reject }] of group.entries()) {
        const answer = answers[i]!
        if (answer instanceof Error) reject(answer)
        else resolve(answer)
      }
    } catch (error) {
      for (const { reject } of group) reject(error)
    } finally {
      running--
      ended++
      startNext()
    }
  }
  const startNext = () => {
    if (queue.length === 0) return
    if (running === 0) void runGroup()
    else if (!isWaiting && running < groups) void startIfStuck()
  }
  /** Starts another group when the current one is stuck, for example waiting for a lock. */
  const startIfStuck = async () => {
    const endedBefore = ended
    isWaiting = true
    await untilStuck()
    isWaiting = false
    if (ended === endedBefore && queue.length > 0) void runGroup()
    startNext()
  }
  return item =>
    new Promise((resolve, reject) => {
      if (queue.length >= waiting) return reject(full())
      queue.push({ item, resolve, reject })
      startNext()
    })
}
