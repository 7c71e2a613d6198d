import { parentPort } from 'node:worker_threads'
import { answerQuestions } from '../../../../shared/process/thread.ts'
import { ApiError, type ErrorDetail } from '../../../foundation/web/server/errors.ts'
import { parseYaml } from './yaml.ts'

/** The value of a body, or why it is refused. */
export type YamlResult = { value: unknown } | { details: ErrorDetail[] }

/** The thread in which long files are read. A Buffer arrives as the plain bytes that it is made of. */
answerQuestions(parentPort, (bytes: Uint8Array): YamlResult => {
  try {
    return { value: parseYaml(Buffer.from(bytes)) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { details: error.extra.details ?? [] }
  }
})
