import { askThread } from '../platform/thread.ts'
import { ApiError, rateLimited, tooBusy, validationError } from '../web/errors.ts'
import { parseYaml } from './yaml.ts'
import type { ReadYaml } from './yaml-worker.ts'

/** Read at once: some 20 ms at worst. A file of 1 MiB takes half a second. */
const INLINE_BYTES = 65_536
/** Of a project: as many as may wait to be imported. */
const MOST_WAITING = 5
const RETRY_AFTER_S = 5
const FULL = `${MOST_WAITING} long files of this project wait already: they are read one after the other`
const inThread = askThread<Uint8Array, ReadYaml>('yaml-worker', import.meta.url, {
  longestMs: 20_000,
  mostWaiting: MOST_WAITING,
  memoryMb: 512,
  refuse: why => (why === 'late' ? tooBusy('other long files take too long') : rateLimited(FULL, RETRY_AFTER_S)),
})

/** The value of a YAML body. Throws 400 (parseYaml), 429 where too many long ones of the project wait, and 503. */
export async function readYaml(projectId: string, bytes: Buffer): Promise<unknown> {
  if (bytes.length <= INLINE_BYTES) return parseYaml(bytes)
  const read = await readInThread(projectId, bytes)
  if ('details' in read) throw validationError(read.details)
  return read.value
}

async function readInThread(projectId: string, bytes: Buffer): Promise<ReadYaml> {
  try {
    return await inThread(projectId, bytes)
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw tooBusy(`the file could not be read: ${(error as Error).message}`)
  }
}
