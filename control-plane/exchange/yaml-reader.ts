import { validationError } from '../web/errors.ts'
import { projectThread } from '../web/project-thread.ts'
import { parseYaml } from './yaml.ts'
import type { ReadYaml } from './yaml-worker.ts'

/** Read at once: some 20 ms at worst. A file of 1 MiB takes half a second. */
const INLINE_BYTES = 65_536
/** As many as may wait to be imported. */
const MOST_WAITING = 5
const inThread = projectThread<Uint8Array, ReadYaml>('yaml-worker', import.meta.url, {
  mostWaiting: MOST_WAITING,
  memoryMb: 512,
  one: 'file',
  many: 'long files',
})

/** The value of a YAML body. Throws 400 (parseYaml), 429 where too many long ones of the project wait, and 503. */
export async function readYaml(projectId: string, bytes: Buffer): Promise<unknown> {
  if (bytes.length <= INLINE_BYTES) return parseYaml(bytes)
  const read = await inThread(projectId, bytes)
  if ('details' in read) throw validationError(read.details)
  return read.value
}
