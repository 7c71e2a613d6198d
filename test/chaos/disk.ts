import { execFileSync } from 'node:child_process'
import { closeSync, cpSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Teardown } from '../support/teardown.ts'

/** A folder on its own small file system, which can be filled. */
export type Disk = { fill(): void; empty(): void; keep(): void }

/** Null where mounting is not permitted: the folder is then on the disk of the machine. */
export function mountDisk(t: Teardown, folder: string, megabytes: number): Disk | null {
  mkdirSync(folder, { recursive: true })
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'picket-chaos', folder], {
      stdio: 'pipe',
    })
  } catch {
    return null
  }
  let isKept = false
  t.teardown(() => {
    if (isKept) cpSync(folder, `${folder}.kept`, { recursive: true })
    execFileSync('umount', ['--lazy', folder])
  })
  const filler = join(folder, 'filler')
  return {
    fill: () => fill(filler),
    empty: () => rmSync(filler, { force: true }),
    keep() {
      isKept = true
    },
  }
}

/** Whether this machine permits mounting small file systems. */
export function canMount(t: Teardown, folder: string): boolean {
  return mountDisk(t, folder, 1) !== null
}

/** Fills the file system to the last byte: in large chunks first, then in small ones. */
function fill(path: string): void {
  const file = openSync(path, 'a')
  for (const size of [4 * 1024 * 1024, 4_096, 1]) {
    const chunk = Buffer.alloc(size)
    try {
      for (;;) writeSync(file, chunk)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
  closeSync(file)
}
