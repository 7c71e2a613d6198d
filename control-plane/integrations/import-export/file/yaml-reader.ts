import { createProjectThread } from '../../../foundation/web/limits/project-thread.ts'
import { validationError } from '../../../foundation/web/server/errors.ts'
import { parseYaml } from './yaml.ts'
import type { YamlResult } from './yaml-worker.ts'

/** Read at once: some 20 ms at worst. A file of 1 MiB takes half a second. */
const MAX_INLINE_BYTES = 65_536
/** As many as may wait to be imported. */
const MAX_WAITING = 5
const inThread = createProjectThread<Uint8Array, YamlResult>('yaml-worker', import.meta.url, {
  maxWaiting: MAX_WAITING,
  memoryMb: 512,
  one: 'file',
  many: 'long files',
})

/** The value of a YAML body. Throws 400 (parseYaml), 429 where too many long ones of the project wait, and 503. */
export async function parseYamlBody(projectId: string, bytes: Buffer): Promise<unknown> {
  if (bytes.length <= MAX_INLINE_BYTES) return parseYaml(bytes)
  const read = await inThread(projectId, bytes)
  if ('details' in read) throw validationError(read.details)
  return read.value
}
