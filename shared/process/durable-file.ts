import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Replaces a file that only its owner can read. The text and the name are on disk when it returns, so after a crash or a power
 * failure the file has the old text or the new one.
 */
export function writeDurably(file: string, text: string): void {
  const handle = openSync(`${file}.new`, 'w', 0o600)
  try {
    writeFileSync(handle, text)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  renameSync(`${file}.new`, file)
  const folder = openSync(dirname(file), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
