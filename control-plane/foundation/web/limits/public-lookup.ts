import { createLruCache } from '../../platform/cache/lru-cache.ts'
import { nowMs } from '../../platform/time/clock.ts'
import { rateLimited } from '../server/errors.ts'
import { createMissCounter } from './miss-counter.ts'
import { createMissingNames } from './missing-names.ts'

export type PublicLookupOptions = {
  /** what is looked up, in the plural */
  what: string
  /** a minute and network: what does not exist */
  missesPerMinute: number
  /** for how long it is remembered that something does not exist */
  rememberMs?: number
}

/**
 * Looks something up for a caller without a key: `find` answers null where it does not exist, which is remembered for a
 * moment. What was found here before is looked up for everybody; anything else not for a network that has asked for too
 * many things that do not exist: then it throws 429.
 */
export type PublicLookup = <T>(network: string, name: string, find: () => Promise<T | null>) => Promise<T | null>

const MAX_NAMES = 10_000

export function createPublicLookup({ what, missesPerMinute, rememberMs }: PublicLookupOptions): PublicLookup {
  // apart, so that what does not exist takes no place of what does
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

  /** Counted before, because many can be under way at once; taken back when it exists, or could not be looked up. */
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
