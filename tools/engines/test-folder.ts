import { mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
/** Several times what the whole suite needs. */
const SPARE_BYTES = 2 ** 30

/**
 * Creates a directory for the data of tests, in memory if there is enough, because each test file clones a database of seven
 * hundred files. Directories of killed runs are removed first.
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
    // a process of another user
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
