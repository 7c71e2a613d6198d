/** One item's answer, after the group that it went with is done. Rejects with what its own work threw. */
export type GroupCommit<Item, Answer> = (item: Item) => Promise<Answer>

type Waiting<Item, Answer> = { item: Item; resolve: (answer: Answer) => void; reject: (error: unknown) => void }

export type GroupLimits = {
  /** items in a group */
  size: number
  /** groups at once; a second one only when the first is stuck */
  groups: number
  /** items that may wait for a group */
  waiting: number
  /** what an item is refused with when too many wait */
  full: () => Error
  /** resolves when a group that has not ended by then is stuck */
  patience: () => Promise<void>
}

/**
 * Collects what comes while a group is being worked on and works on it together: alone an item waits for nobody, in a
 * burst the cost of a commit is shared. `work` answers in the order of its items; an Error among the answers rejects its
 * item, a throw rejects the whole group.
 */
export function createGroupCommit<Item, Answer>(
  work: (items: Item[]) => Promise<(Answer | Error)[]>,
  { size, groups, waiting, full, patience }: GroupLimits,
): GroupCommit<Item, Answer> {
  let queue: Waiting<Item, Answer>[] = []
  let running = 0
  let ended = 0
  let isWatched = false

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
      goOn()
    }
  }
  const goOn = () => {
    if (queue.length === 0) return
    if (running === 0) void runGroup()
    else if (!isWatched && running < groups) void watch()
  }
  /** One group that waits for a lock must not hold up everybody else. */
  const watch = async () => {
    const endedBefore = ended
    isWatched = true
    await patience()
    isWatched = false
    if (ended === endedBefore && queue.length > 0) void runGroup()
    goOn()
  }
  return item =>
    new Promise((resolve, reject) => {
      if (queue.length >= waiting) return reject(full())
      queue.push({ item, resolve, reject })
      goOn()
    })
}
