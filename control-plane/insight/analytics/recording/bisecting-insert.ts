export type RejectedItem = { index: number; error: Error }

/** More rejections before any success mean that the cause is not a single item. */
const MAX_REJECTIONS = 128

/**
 * Inserts `count` items together. A rejected insert is retried in halves, down to single items. Returns the items that were
 * rejected alone. Halves of one size come before smaller ones, so a bad range does not hide that the others are
 * accepted. Throws errors for which `mayHalve` is false, and the last error when nothing is accepted, unless
 * `isPatient`.
 */
export async function insertBisecting(
  count: number,
  insert: (from: number, to: number) => Promise<void>,
  mayHalve: (error: unknown) => boolean,
  isPatient: (error: unknown) => boolean,
): Promise<RejectedItem[]> {
  const rejected: RejectedItem[] = []
  const queue = [{ from: 0, to: count }]
  let failures = 0
  let isAnyAccepted = false
  for (const { from, to } of queue) {
    if (from === to) continue
    try {
      await insert(from, to)
      isAnyAccepted = true
    } catch (error) {
      failures++
      const isHopeless = !isAnyAccepted && failures > MAX_REJECTIONS && !isPatient(error)
      if (!mayHalve(error) || isHopeless) throw error
      const middle = (from + to) >> 1
      if (to - from === 1) rejected.push({ index: from, error: error as Error })
      else queue.push({ from, to: middle }, { from: middle, to })
    }
  }
  return rejected
}
