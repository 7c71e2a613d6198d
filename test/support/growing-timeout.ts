/** A fast machine needs the first one; the last one is enough for a machine that is sixty times slower. */
const TIMEOUTS_MS = [500, 2_000, 8_000, 32_000]

/**
 * Makes an attempt with a short timeout, and with longer ones until the result is the expected one: a slow machine may need
 * longer to come to the point where only the timeout ends the attempt. Returns the last result.
 */
export async function attemptWithGrowingTimeout<T>(
  attempt: (timeoutMs: number) => Promise<T>,
  isExpected: (result: T) => boolean,
): Promise<T> {
  for (const timeoutMs of TIMEOUTS_MS.slice(0, -1)) {
    const result = await attempt(timeoutMs)
    if (isExpected(result)) return result
  }
  return attempt(TIMEOUTS_MS.at(-1)!)
}
