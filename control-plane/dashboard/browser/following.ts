import { useEffect, useRef, useState } from 'preact/hooks'

/** The times between the reads. The last one repeats. */
const STEPS_MS = [500, 1_000, 1_500, 2_500, 5_000]

/** The time before a read. `step`: how many came before it. */
export const getStepMs = (step: number): number => STEPS_MS[Math.min(step, STEPS_MS.length - 1)]!

/**
 * Reads something again soon and then less often, while it is about to change. `key` names the state that is followed, and
 * stays the same until that state changes: a new one starts from the beginning, null ends it. Pages in the background do not read.
 */
export function useFollowing(key: string | null, read: () => Promise<unknown>): void {
  const latest = useRef(read)
  latest.current = read
  useEffect(() => {
    if (key === null) return
    let timer: ReturnType<typeof setTimeout>
    let isCurrent = true
    const readAfter = (step: number) => {
      if (!isCurrent) return
      // a page in the background waits until it is seen
      const read = async () => void (document.hidden || (await latest.current()))
      timer = setTimeout(() => void read().then(() => readAfter(step + 1)), getStepMs(step))
    }
    readAfter(0)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [key])
}

/** The value that has not changed for `ms`; the first one at once. */
export function useRested<T>(value: T, ms: number): T {
  const [rested, setRested] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setRested(() => value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return rested
}
