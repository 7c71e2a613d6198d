import { readdirSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The part of the disk that NATS takes when its configuration has no limit. */
const SHARE = 0.75

/**
 * The value of `max_file_store`. Without one, NATS takes its share of the space that is free at each start, without its own
 * files. After the disk became fuller, that is less than the streams reserve, and NATS does not open all of them.
 */
export function chooseMaxFileStore(storeDir: string): number {
  const { bavail, bsize } = statfsSync(storeDir)
  const files = readdirSync(storeDir, { recursive: true, encoding: 'utf8' })
  const usedBytes = sum(files.map(file => readSize(join(storeDir, file))))
  const streams = files.filter(file => /\/streams\/[^/]+\/meta\.inf$/.test(file))
  const reservedBytes = sum(streams.map(file => readMaxBytes(join(storeDir, file))))
  return Math.max(1, reservedBytes, Math.floor((bavail * bsize + usedBytes) * SHARE))
}

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0)

function readSize(file: string): number {
  const found = statSync(file, { throwIfNoEntry: false })
  return found?.isFile() ? found.size : 0
}

/** What a stream reserves, from the file in which NATS stores its configuration. 0: no limit, or not readable. */
function readMaxBytes(file: string): number {
  try {
    const { max_bytes, storage } = JSON.parse(readFileSync(file, 'utf8')) as { max_bytes?: number; storage?: string }
    return storage === 'file' ? Math.max(0, max_bytes ?? 0) : 0
  } catch {
    return 0
  }
}
