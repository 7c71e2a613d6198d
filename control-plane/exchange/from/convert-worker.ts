import { parentPort } from 'node:worker_threads'
import type { TSchema } from 'typebox'
import { answerQuestions } from '../../../shared/thread.ts'
import { ApiError, type Detail } from '../../web/errors.ts'
import { createCompiler } from '../../web/schema-compiler.ts'
import type { Check, Compile, FindFaults } from '../../web/validation.ts'
import { type Foreign, readSource } from './index.ts'

/** `body`: as JSON, which is passed on faster than the value itself. */
export type ConversionQuestion = { source: Foreign; body: string }
/** The file and its warnings, as JSON, or why the body is refused. */
export type ConversionAnswer = { converted: string } | { details: Detail[] }

const compile = createCompiler() as unknown as Compile
const checks = new Map<TSchema, Check>()

const findFaults: FindFaults = (schema, value, mostValues) => {
  const check = checks.get(schema) ?? compile({ schema })
  checks.set(schema, check)
  return check(value, mostValues) ? [] : (check.errors ?? [])
}

/** The thread in which files of other products are converted. */
answerQuestions(parentPort, ({ source, body }: ConversionQuestion): ConversionAnswer => {
  try {
    return { converted: JSON.stringify(readSource(source, JSON.parse(body), findFaults)) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { details: error.extra.details ?? [] }
  }
})
