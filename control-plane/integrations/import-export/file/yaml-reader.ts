import { createProjectThread } from '../../../foundation/web/limits/project-thread.ts'
import { validationError } from '../../../foundation/web/server/errors.ts'
import { parseYaml } from './yaml.ts'
import type { YamlResult } from './yaml-worker.ts'

/**
 * Smaller files are parsed on the main thread: 20 ms at worst (700 aliases that repeat 2,000,000 characters). A file
 * of 1 MiB takes half a second.
 */
const MAX_INLINE_BYTES = 8_192
/** As many as the imports of a project that may wait. */
const MAX_WAITING = 5
const inThread = createProjectThread<Uint8Array, YamlResult>('yaml-worker', import.meta.url, {
  maxWaiting: MAX_WAITING,
  memoryMb: 512,
  one: 'file',
  many: 'long files',
})

/** Parses a YAML body. Throws 400 (parseYaml), 429 when too many long files of the project wait, and 503. */
export async function parseYamlBody(projectId: string, bytes: Buffer): Promise<unknown> {
  if (bytes.length <= MAX_INLINE_BYTES) return parseYaml(bytes)
  const result = await inThread(projectId, bytes)
  if ('details' in result) throw validationError(result.details)
  return result.value
}
