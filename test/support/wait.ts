export type WaitOptions = {
  timeoutMs?: number
  /** what is waited for; a function is asked when it did not come about */
  label?: string | (() => string)
  everyMs?: number
}

/**
 * Waits until `condition` gives something truthy and returns it. A throw of the condition counts as "not yet"; after
 * `timeoutMs` (10 s) the wait fails with the label and the last reason.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 10_000, label = 'the condition', everyMs = 20 }: WaitOptions = {},
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
