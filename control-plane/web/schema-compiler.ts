import { Ajv, type AnySchema, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'
import { type Check, FORMATS, holdsMore } from './validation.ts'

/** Of larger values only the first fault is reported: each fault costs time, and there can be several a value. */
const MOST_VALUES = 5_000

/**
 * How Fastify gets its checks: all faults at once (of a value of ordinary size), nothing coerced and nothing dropped,
 * defaults filled in (decisions 1.2, 1.3). A schema is compiled when its route is first asked: all of them together take
 * longer than everything else of a start, and a process of few roles never needs most of them.
 */
export function createCompiler(): FastifySchemaCompiler<AnySchema> {
  const [all, first] = [createAjv(true), createAjv(false)]
  return ({ schema }) => {
    const findAll = compiledOnce(all, schema)
    const findFirst = compiledOnce(first, schema)
    const check: Check = (value, mostValues = MOST_VALUES) => {
      const compiled = holdsMore(value, mostValues) ? findFirst() : findAll()
      const isValid = compiled(value)
      check.errors = compiled.errors
      return isValid
    }
    return check
  }
}

function createAjv(allErrors: boolean): Ajv {
  // optimizing the code of a check takes as long as everything else of compiling it, and makes it no faster
  const ajv = new Ajv({ useDefaults: true, addUsedSchema: false, allErrors, code: { optimize: false } })
  addFormats.default(ajv)
  for (const [name, format] of Object.entries(FORMATS)) ajv.addFormat(name, format)
  return ajv
}

function compiledOnce(ajv: Ajv, schema: AnySchema): () => ValidateFunction {
  let compiled: ValidateFunction | null = null
  return () => {
    compiled ??= ajv.compile(schema)
    return compiled
  }
}
