import { createFairLimiter, type LimiterRefusal } from '../../../../shared/process/fair-limiter.ts'
import { tooBusy } from '../server/errors.ts'
import { createMissingNames } from './missing-names.ts'

type QueuedLookupOptions = {
  atOnce: number
  maxWaiting: number
  /** how long a look-up waits for its turn */
  timeoutMs: number
  /** called when the number of waiting look-ups changes */
  onWaiting(change: 1 | -1): void
  onRefused(why: LimiterRefusal): void
}

/**
 * Looks up names for callers that cannot be distinguished, so that none of them is refused because of others: at most
 * `atOnce` look-ups run at the same time and the rest waits in order. `find` returns null when the name does not exist,
 * which is cached for a second. Throws 503 when too many wait, or one has waited too long.
 */
type QueuedLookup = <T>(name: string, find: () => Promise<T | null>) => Promise<T | null>

export function createQueuedLookup(options: QueuedLookupOptions): QueuedLookup {
  const { atOnce, maxWaiting, timeoutMs, onWaiting, onRefused } = options
  const names = createMissingNames()
  const refuse = (why: LimiterRefusal) => {
    onRefused(why)
    return tooBusy('too many look-ups are waiting')
  }
  const turns = createFairLimiter({
    maxConcurrent: atOnce,
    maxConcurrentPerKey: atOnce,
    maxWaitingPerKey: maxWaiting,
    waitTimeoutMs: timeoutMs,
    onWaiting,
    refuse,
  })
  return async (name, find) => {
    if (names.isMissing(name)) return null
    return names.shareLookup(name, () =>
      turns.run('', async () => {
        const found = await find()
        if (found === null) names.setMissing(name)
        return found
      }),
    )
  }
}
