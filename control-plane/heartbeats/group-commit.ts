/** One item's answer, after the group that it went with is done. Rejects with what its own work threw. */
export type GroupCommit<Item, Answer> = (item: Item) => Promise<Answer>

type Waiting<Item, Answer> = { item: Item; resolve: (answer: Answer) => void; reject: (error: unknown) => void }

/**
 * Collects what comes while a group is being worked on and works on it together: alone an item waits for nobody, in a
 * burst the cost of a commit is shared. `work` answers in the order of its items; an Error among the answers rejects
 * its item, a throw rejects the whole group. At most `groups` at once, each of at most `size` items.
 *
 * @param full makes what an item is refused with when `waiting` others wait already
 */
export function createGroupCommit<Item, Answer>(
  work: (items: Item[]) => Promise<(Answer | Error)[]>,
  { groups, size, waiting, full }: { groups: number; size: number; waiting: number; full: () => Error },
): GroupCommit<Item, Answer> {
  let queue: Waiting<Item, Answer>[] = []
  let running = 0

  const runGroup = async (group: Waiting<Item, Answer>[]) => {
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
      start()
    }
  }
  const start = () => {
    while (running < groups && queue.length > 0) {
      const group = queue.slice(0, size)
      queue = queue.slice(size)
      void runGroup(group)
    }
  }
  return item =>
    new Promise((resolve, reject) => {
      if (queue.length >= waiting) return reject(full())
      queue.push({ item, resolve, reject })
      start()
    })
}
