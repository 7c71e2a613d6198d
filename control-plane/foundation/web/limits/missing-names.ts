import { createLruCache } from '../../platform/cache/lru-cache.ts'
import { nowMs } from '../../platform/time/clock.ts'

/** What is known of names that callers without a key ask for. */
export type MissingNames = {
  /** whether a look-up found a moment ago that it does not exist */
  isMissing(name: string): boolean
  setMissing(name: string): void
  /** A crowd that asks for the same name is one look-up. */
  shareLookup<T>(name: string, lookUp: () => Promise<T>): Promise<T>
}

const MAX_NAMES = 10_000

/** @param rememberMs for how long it is remembered that a name does not exist */
export function createMissingNames(rememberMs = 1_000): MissingNames {
  const missingUntilMs = createLruCache<number>(MAX_NAMES)
  const underWay = new Map<string, Promise<unknown>>()
  return {
    isMissing: name => (missingUntilMs.get(name) ?? 0) > nowMs(),
    setMissing: name => missingUntilMs.set(name, nowMs() + rememberMs),
    shareLookup(name, lookUp) {
      const running = underWay.get(name) as ReturnType<typeof lookUp> | undefined
      if (running) return running
      const asked = lookUp().finally(() => underWay.delete(name))
      underWay.set(name, asked)
      return asked
    },
  }
}
