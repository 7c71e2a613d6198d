import { createLruCache } from '../../../../shared/lru-cache.ts'
import { nowMs } from '../../platform/time/clock.ts'
import { rateLimited } from '../server/errors.ts'
import { createMissCounter } from './miss-counter.ts'
import { createMissingNames } from './missing-names.ts'

type PublicLookupOptions = {
  /** the noun for messages, in the plural */
  what: string
  /** look-ups that find nothing, for each minute and network */
  missesPerMinute: number
  /** how long a missing name is cached */
  rememberMs?: number
}

/**
 * Looks a name up for a caller without a key. `find` returns null when it does not exist, which is cached for a moment.
 * Names that were found before are looked up for every network. Other names throw 429 for a network with too many misses
 * (docs/design/api.md#rate-limits).
 */
export type PublicLookup = <T>(network: string, name: string, find: () => Promise<T | null>) => Promise<T | null>

const MAX_NAMES = 10_000

export function createPublicLookup({ what, missesPerMinute, rememberMs }: PublicLookupOptions): PublicLookup {
  // separate caches, so that missing names do not displace existing ones
  const familiar = createLruCache<true>(MAX_NAMES)
  const names = createMissingNames(rememberMs)
  const misses = createMissCounter(missesPerMinute)
  const refusal = (waitSeconds: number) =>
    rateLimited(`more than ${missesPerMinute} unknown ${what} a minute from one network`, waitSeconds)

  async function lookUp<T>(name: string, find: () => Promise<T | null>): Promise<T | null> {
    const found = await find()
    if (found !== null) familiar.set(name, true)
    else {
      familiar.delete(name)
      names.setMissing(name)
    }
    return found
  }

  /** Counts a miss in advance, because many look-ups may run at the same time; reverts it when the name exists or `find` failed. */
  async function lookUpCounted<T>(network: string, name: string, find: () => Promise<T | null>): Promise<T | null> {
    const waitSeconds = misses.waitSeconds(network, nowMs())
    if (waitSeconds > 0) throw refusal(waitSeconds)
    const takeBack = misses.count(network, nowMs())
    let isMissing = false
    try {
      const found = await lookUp(name, find)
      isMissing = found === null
      return found
    } finally {
      if (!isMissing) takeBack()
    }
  }

  return async (network, name, find) => {
    if (names.isMissing(name)) return null
    if (familiar.get(name)) return lookUp(name, find)
    return names.shareLookup(name, () => lookUpCounted(network, name, find))
  }
}
