import { nowMs } from '../platform/clock.ts'
import { createRecent } from '../platform/recent.ts'

/** What is known of names that callers without a key ask for. */
export type Names = {
  /** whether a look-up found a moment ago that it does not exist */
  isMissing(name: string): boolean
  setMissing(name: string): void
  /** A crowd that asks for the same name is one look-up. */
  once<T>(name: string, lookUp: () => Promise<T>): Promise<T>
}

const MOST_NAMES = 10_000

/** @param rememberMs for how long it is remembered that a name does not exist */
export function createNames(rememberMs = 1_000): Names {
  const missingUntilMs = createRecent<number>(MOST_NAMES)
  const underWay = new Map<string, Promise<unknown>>()
  return {
    isMissing: name => (missingUntilMs.get(name) ?? 0) > nowMs(),
    setMissing: name => missingUntilMs.set(name, nowMs() + rememberMs),
    once(name, lookUp) {
      const running = underWay.get(name) as ReturnType<typeof lookUp> | undefined
      if (running) return running
      const asked = lookUp().finally(() => underWay.delete(name))
      underWay.set(name, asked)
      return asked
    },
  }
}
