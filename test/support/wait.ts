/** A limit that only a hang can reach, on any machine and under any load. */
export const HANG_MS = 300_000

type WaitOptions = {
  timeoutMs?: number
  /** the awaited condition, for the error; a function is called on failure */
  label?: string | (() => string)
  /** default: 20 ms, and a twentieth of the time that has passed when that is longer, at most 250 ms */
  everyMs?: number
}

const MIN_PAUSE_MS = 20
const MAX_PAUSE_MS = 250
/** A condition is often a request to the API: asking fifty times a second for a minute takes more processor time than the test. */
const pauseMs = (waitedMs: number) => Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, waitedMs / 20))

/**
 * Waits until `condition` returns a truthy value and returns it. An error of the condition counts as "not yet". After
 * `timeoutMs` (five minutes) the wait fails with the label and the last error.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = HANG_MS, label = 'the condition', everyMs }: WaitOptions = {},
): Promise<NonNullable<T>> {
  const startedMs = performance.now()
  let reason = ''
  for (;;) {
    try {
      const value = await condition()
      if (value) return value
      reason = ''
    } catch (error) {
      reason = ` (${error instanceof Error ? error.message : String(error)})`
    }
    const waitedMs = performance.now() - startedMs
    if (waitedMs > timeoutMs)
      throw new Error(`${typeof label === 'string' ? label : label()} did not come about in ${timeoutMs} ms${reason}`)
    await new Promise(resolve => setTimeout(resolve, everyMs ?? pauseMs(waitedMs)))
  }
}
