import { parentPort } from 'node:worker_threads'
import { answerQuestions } from '../../../../shared/process/thread.ts'
import { ApiError, type ErrorDetail } from '../../../foundation/web/server/errors.ts'
import { parseYaml } from './yaml.ts'

/** The parsed value, or why the body is refused. */
export type YamlResult = { value: unknown } | { details: ErrorDetail[] }

/** The thread that parses long files. A Buffer arrives as a plain Uint8Array. */
answerQuestions(parentPort, (bytes: Uint8Array): YamlResult => {
  try {
    return { value: parseYaml(Buffer.from(bytes)) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { details: error.extra.details ?? [] }
  }
})
