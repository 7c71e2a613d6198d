import { parentPort } from 'node:worker_threads'
import { answerQuestions } from '../../shared/thread.ts'
import { ApiError, type Detail } from '../web/errors.ts'
import { parseYaml } from './yaml.ts'

/** The value of a body, or why it is refused. */
export type ReadYaml = { value: unknown } | { details: Detail[] }

/** The thread in which long files are read. A Buffer arrives as the plain bytes that it is made of. */
answerQuestions(parentPort, (bytes: Uint8Array): ReadYaml => {
  try {
    return { value: parseYaml(Buffer.from(bytes)) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { details: error.extra.details ?? [] }
  }
})
