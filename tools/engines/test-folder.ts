import { mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
/** Several times what the whole suite takes there. */
const SPARE_BYTES = 2 ** 30

/**
 * A new directory for what tests store. It is in memory where a machine has that to spare, since each test file clones a
 * database of seven hundred files; those of runs that were killed are removed first.
 */
export function createTestFolder(): string {
  const parent = hasSpare(MEMORY) ? MEMORY : tmpdir()
  for (const name of readdirSync(parent)) {
    const [, pid] = /^picket-test-(\d+)-/.exec(name) ?? []
    if (pid === undefined || isRunning(Number(pid))) continue
    const left = join(parent, name)
    if (statSync(left).uid === process.getuid?.()) rmSync(left, { recursive: true, force: true })
  }
  return mkdtempSync(join(parent, `picket-test-${process.pid}-`))
}

function hasSpare(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize >= SPARE_BYTES
  } catch {
    return false
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // somebody else's
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
