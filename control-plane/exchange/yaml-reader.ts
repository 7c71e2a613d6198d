import { askThread } from '../platform/thread.ts'
import { tooBusy, validationError } from '../web/errors.ts'
import { parseYaml } from './yaml.ts'
import type { ReadYaml } from './yaml-worker.ts'

/** Read at once: some 20 ms at worst. A file of 1 MiB takes half a second. */
const INLINE_BYTES = 65_536
const inThread = askThread<Uint8Array, ReadYaml>('yaml-worker', import.meta.url, {
  longestMs: 20_000,
  // as many as may wait to be imported
  mostWaiting: 5,
  memoryMb: 512,
})

/** The value of a YAML body. Throws 400 (parseYaml), and 503 where too many long ones of the project are read. */
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
    throw tooBusy(`the file could not be read: ${(error as Error).message}`)
  }
}
