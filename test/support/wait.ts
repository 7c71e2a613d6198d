/** A limit that only a hang can reach, on any machine with any load. */
export const HANG_MS = 300_000

export type WaitOptions = {
  timeoutMs?: number
  /** describes the condition; a function is called after a timeout */
  label?: string | (() => string)
  everyMs?: number
}

/**
 * Waits until `condition` returns something truthy and returns it. An error of the condition counts as "not yet"; after
 * `timeoutMs` (five minutes) the wait fails with the label and the last reason.
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
