import { Ajv, type AnySchema, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { type CompileSchema, type FindFaults, FORMATS, hasMoreValues, type SchemaCheck } from './validation-errors.ts'

/** Of larger values only the first fault is reported, because each fault costs time and a value may have several. */
const MAX_VALUES_FOR_ALL_FAULTS = 5_000

/** Of all servers of the process: a schema that several of them have is compiled once. */
let compilers: { all: Ajv; first: Ajv } | null = null

/**
 * Compiles schemas for Fastify: all faults are reported (of values of ordinary size), nothing is coerced or dropped, and
 * defaults are filled in (docs/design/api.md#validation). A schema is compiled at the first request of its route: compiling
 * all takes longer than the rest of a start, and a process with few roles never needs most of them.
 */
export function createSchemaCompiler(): FastifySchemaCompiler<AnySchema> {
  compilers ??= { all: createAjv(true), first: createAjv(false) }
  const { all, first } = compilers
  return ({ schema }) => {
    const findAll = compileLazily(all, schema)
    const findFirst = compileLazily(first, schema)
    const check: SchemaCheck = (value, maxValues = MAX_VALUES_FOR_ALL_FAULTS) => {
      const compiled = hasMoreValues(value, maxValues) ? findFirst() : findAll()
      const isValid = compiled(value)
      check.errors = compiled.errors
      return isValid
    }
    return check
  }
}

function createAjv(allErrors: boolean): Ajv {
  // optimizing doubles the time to compile a schema and does not make validation faster
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

/** Finds faults as Fastify's validator does, where there is no request: in threads and in work that outlives its request. */
export function createOwnFaultFinder(): FindFaults {
  const compile = createSchemaCompiler() as unknown as CompileSchema
  const checks = new Map<TSchema, SchemaCheck>()
  return (schema, value, maxValues) => {
    const check = checks.get(schema) ?? compile({ schema })
    checks.set(schema, check)
    return check(value, maxValues) ? [] : (check.errors ?? [])
  }
}
