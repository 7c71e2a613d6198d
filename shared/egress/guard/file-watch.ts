import { statSync } from 'node:fs'
import { nowUs } from '../monotonic.ts'

/** How often the files are looked at; a look takes microseconds. */
const LOOK_INTERVAL_MS = 5_000

/**
 * Returns a function that counts how often one of the files changed, appeared or disappeared. It looks at them at most once per
 * `intervalMs`, when it is called.
 */
export function watchFiles(paths: readonly string[], intervalMs = LOOK_INTERVAL_MS): () => number {
  let changes = 0
  let seen = paths.map(readVersion).join()
  let lookedUs = nowUs()
  return () => {
    if (nowUs() - lookedUs < intervalMs * 1_000) return changes
    lookedUs = nowUs()
    const current = paths.map(readVersion).join()
    if (current !== seen) changes++
    seen = current
    return changes
  }
}

/** Another value after each change, also when another file takes the place. Empty without a file. */
function readVersion(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats ? `${stats.ino} ${stats.mtimeMs} ${stats.size}` : ''
}
