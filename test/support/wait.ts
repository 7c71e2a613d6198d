/** A limit that only a hang can reach, on any machine and under any load. */
export const HANG_MS = 300_000

type WaitOptions = {
  timeoutMs?: number
  /** the awaited condition, for the error; a function is called on failure */
  label?: string | (() => string)
  everyMs?: number
}

/**
 * Waits until `condition` returns a truthy value and returns it. An error of the condition counts as "not yet". After
 * `timeoutMs` (five minutes) the wait fails with the label and the last error.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = HANG_MS, label = 'the condition', everyMs = 20 }: WaitOptions = {},
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs
  let reason = ''
  for (;;) {
    try {
      const value = await condition()
      if (value) return value
      reason = ''
    } catch (error) {
      reason = ` (${error instanceof Error ? error.message : String(error)})`
    }
    if (performance.now() > deadline)
      throw new Error(`${typeof label === 'string' ? label : label()} did not come about in ${timeoutMs} ms${reason}`)
    await new Promise(resolve => setTimeout(resolve, everyMs))
  }
}
