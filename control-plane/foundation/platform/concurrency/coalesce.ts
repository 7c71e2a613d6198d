/**
 * Makes work that many ask for at once run one at a time, and once for all who asked while it ran: whoever asks is
 * answered by a run that began after that.
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
