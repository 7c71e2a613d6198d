import { useEffect, useRef, useState } from 'preact/hooks'

/** After a change, the next reads come after these times. Later the page's own reads are enough. */
const STEPS_MS = [500, 1_000, 1_500, 2_500, 4_000, 6_000]

/**
 * Reads something again soon, while it is about to change. `key` names the state that is followed: a new one starts from
 * the beginning, null ends it.
 */
export function useFollowing(key: string | null, read: () => Promise<unknown>): void {
  const latest = useRef(read)
  latest.current = read
  useEffect(() => {
    if (key === null) return
    let timer: ReturnType<typeof setTimeout>
    const readAfter = (step: number) => {
      const ms = STEPS_MS[step]
      if (ms === undefined) return
      timer = setTimeout(() => void latest.current().then(() => readAfter(step + 1)), ms)
    }
    readAfter(0)
    return () => clearTimeout(timer)
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
