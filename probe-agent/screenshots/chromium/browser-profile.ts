import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PREFIX = 'picket-browser-'

/** Creates a folder for everything that one browser writes. Its name contains the id of this process. */
export function createBrowserProfile(): Promise<string> {
  return mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`))
}

/** Never fails: a browser that is exiting may still write. Leftovers are removed at the next start. */
export async function removeBrowserProfile(home: string): Promise<void> {
  await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }).catch(() => {})
}

/** Removes the folders of probes that have exited or were killed. Call it at the start, before creating any. */
export async function removeStaleProfiles(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const [, pid] = new RegExp(`^${PREFIX}(\\d+)-`).exec(name) ?? []
    if (pid && (Number(pid) === process.pid || !isRunning(Number(pid))))
      await removeBrowserProfile(join(tmpdir(), name))
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
