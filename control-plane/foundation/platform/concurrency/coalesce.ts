/**
 * Makes runs of `work` sequential, and combines all calls that arrive during a run into one following run. The promise of a
 * call belongs to a run that began after the call.
 */
export function coalesce(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  let waiting: Promise<void> | null = null
  const start = () => {
    waiting = null
    running = work().finally(() => {
      running = null
    })
    return running
  }
  return () => {
    if (waiting) return waiting
    if (!running) return start()
    waiting = running.then(start, start)
    return waiting
  }
}
