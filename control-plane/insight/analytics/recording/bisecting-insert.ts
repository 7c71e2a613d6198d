export type RejectedItem = { index: number; error: Error }

/** So many refusals before anything is accepted: it is not about single items. */
const MAX_REJECTIONS = 128

/**
 * Inserts the items together; what is refused is tried again in halves, down to single items. Answers those refused
 * alone. Halves of one size come before smaller ones, so one bad stretch does not hide that the rest is accepted.
 * Throws what `mayHalve` denies, and the last error when nothing at all is accepted, unless `isPatient`.
 */
export async function insertBisecting<T>(
  items: T[],
  insert: (items: T[]) => Promise<void>,
  mayHalve: (error: unknown) => boolean,
  isPatient: (error: unknown) => boolean,
): Promise<RejectedItem[]> {
  const refused: RejectedItem[] = []
  const queue = [{ from: 0, to: items.length }]
  let failures = 0
  let isAnyAccepted = false
  for (const { from, to } of queue) {
    if (from === to) continue
    try {
      await insert(from === 0 && to === items.length ? items : items.slice(from, to))
      isAnyAccepted = true
    } catch (error) {
      failures++
      const isHopeless = !isAnyAccepted && failures > MAX_REJECTIONS && !isPatient(error)
      if (!mayHalve(error) || isHopeless) throw error
      const middle = (from + to) >> 1
      if (to - from === 1) refused.push({ index: from, error: error as Error })
      else queue.push({ from, to: middle }, { from: middle, to })
    }
  }
  return refused
}
