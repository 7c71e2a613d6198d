import { parentPort } from 'node:worker_threads'
import { answerQuestions } from '../../../../shared/process/thread.ts'
import { ApiError, type ErrorDetail } from '../../../foundation/web/server/errors.ts'
import { createOwnFaultFinder } from '../../../foundation/web/validation/schema-compiler.ts'
import { type ForeignProduct, parseForeignFile } from './index.ts'

/** `body` is JSON, which passes to a thread faster than a value. */
export type ConversionRequest = { source: ForeignProduct; body: string }
/** The converted file with its warnings as JSON, or why the body is refused. */
export type ConversionResult = { converted: string } | { details: ErrorDetail[] }

const findFaults = createOwnFaultFinder()

/** The thread that converts files of other products. */
answerQuestions(parentPort, ({ source, body }: ConversionRequest): ConversionResult => {
  try {
    return { converted: JSON.stringify(parseForeignFile(source, JSON.parse(body), findFaults)) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { details: error.extra.details ?? [] }
  }
})
