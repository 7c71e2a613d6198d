import { createLruCache } from '../../../../shared/lru-cache.ts'
import { monotonicMs } from '../../platform/time/clock.ts'

/** A cache of names that do not exist, for callers without a key. */
type MissingNames = {
  /** whether a recent look-up found that the name does not exist */
  isMissing(name: string): boolean
  setMissing(name: string): void
  /** Concurrent look-ups of one name are one look-up. */
  shareLookup<T>(name: string, lookUp: () => Promise<T>): Promise<T>
}

const MAX_NAMES = 10_000

/** `rememberMs`: how long a missing name is cached. */
export function createMissingNames(rememberMs = 1_000): MissingNames {
  const missingUntilMs = createLruCache<number>(MAX_NAMES)
  const inFlight = new Map<string, Promise<unknown>>()
  return {
    isMissing: name => (missingUntilMs.get(name) ?? Number.NEGATIVE_INFINITY) > monotonicMs(),
    setMissing: name => missingUntilMs.set(name, monotonicMs() + rememberMs),
    shareLookup(name, lookUp) {
      const running = inFlight.get(name) as ReturnType<typeof lookUp> | undefined
      if (running) return running
      const started = lookUp().finally(() => inFlight.delete(name))
      inFlight.set(name, started)
      return started
    },
  }
}
