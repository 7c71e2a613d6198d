import { Ajv, type AnySchema, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'
import { FORMATS, hasMoreValues, type SchemaCheck } from './validation-errors.ts'

/** Of larger values only the first fault is reported: each fault costs time, and there can be several a value. */
const MAX_VALUES_FOR_ALL_FAULTS = 5_000

/**
 * How Fastify gets its checks: all faults at once (of a value of ordinary size), nothing coerced and nothing dropped,
 * defaults filled in (decisions 1.2, 1.3). A schema is compiled when its route is first asked: all of them together take
 * longer than everything else of a start, and a process of few roles never needs most of them.
 */
export function createSchemaCompiler(): FastifySchemaCompiler<AnySchema> {
  const [all, first] = [createAjv(true), createAjv(false)]
  return ({ schema }) => {
    const findAll = compileLazily(all, schema)
    const findFirst = compileLazily(first, schema)
    const check: SchemaCheck = (value, mostValues = MAX_VALUES_FOR_ALL_FAULTS) => {
      const compiled = hasMoreValues(value, mostValues) ? findFirst() : findAll()
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

function compileLazily(ajv: Ajv, schema: AnySchema): () => ValidateFunction {
  let compiled: ValidateFunction | null = null
  return () => {
    compiled ??= ajv.compile(schema)
    return compiled
  }
}
