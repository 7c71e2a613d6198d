import { createTurns, type Refusal } from '../platform/turns.ts'
import { tooBusy } from './errors.ts'
import { createNames } from './names.ts'

export type QueuedLookUpOptions = {
  atOnce: number
  mostWaiting: number
  /** how long one waits for its turn */
  patienceMs: number
  /** how many more or fewer wait now */
  onWaiting(change: 1 | -1): void
  onRefused(why: Refusal): void
}

/**
 * Looks up names for callers that cannot be distinguished, so none of them is refused because of the others: at most `atOnce`
 * look-ups run at the same time and the rest waits in its order. `find` answers null where the name does not exist, which is
 * remembered for a second. Throws 503 when too many wait, or one has waited too long.
 */
export type QueuedLookUp = <T>(name: string, find: () => Promise<T | null>) => Promise<T | null>

export function createQueuedLookUp(options: QueuedLookUpOptions): QueuedLookUp {
  const { atOnce, mostWaiting, patienceMs, onWaiting, onRefused } = options
  const names = createNames()
  const refuse = (why: Refusal) => {
    onRefused(why)
    return tooBusy('too many names are asked for')
  }
  const turns = createTurns({ atOnce, atOnceEach: atOnce, mostWaitingEach: mostWaiting, patienceMs, onWaiting, refuse })
  return async (name, find) => {
    if (names.isMissing(name)) return null
    return names.once(name, () =>
      turns.run('', async () => {
        const found = await find()
        if (found === null) names.setMissing(name)
        return found
      }),
    )
  }
}
