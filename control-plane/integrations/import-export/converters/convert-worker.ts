import { parentPort } from 'node:worker_threads'
import type { TSchema } from 'typebox'
import { answerQuestions } from '../../../../shared/process/thread.ts'
import { ApiError, type ErrorDetail } from '../../../foundation/web/server/errors.ts'
import { createSchemaCompiler } from '../../../foundation/web/validation/schema-compiler.ts'
import type { CompileSchema, FindFaults, SchemaCheck } from '../../../foundation/web/validation/validation-errors.ts'
import { type ForeignProduct, parseForeignFile } from './index.ts'

/** `body`: as JSON, which is passed on faster than the value itself. */
export type ConversionRequest = { source: ForeignProduct; body: string }
/** The file and its warnings, as JSON, or why the body is refused. */
export type ConversionResult = { converted: string } | { details: ErrorDetail[] }

const compile = createSchemaCompiler() as unknown as CompileSchema
const checks = new Map<TSchema, SchemaCheck>()

const findFaults: FindFaults = (schema, value, mostValues) => {
  const check = checks.get(schema) ?? compile({ schema })
  checks.set(schema, check)
  return check(value, mostValues) ? [] : (check.errors ?? [])
}

/** The thread in which files of other products are converted. */
answerQuestions(parentPort, ({ source, body }: ConversionRequest): ConversionResult => {
  try {
    return { converted: JSON.stringify(parseForeignFile(source, JSON.parse(body), findFaults)) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { details: error.extra.details ?? [] }
  }
})
