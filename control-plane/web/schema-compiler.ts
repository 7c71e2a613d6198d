import { Ajv, type AnySchema, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'
import { FORMATS } from './validation.ts'

/** What Fastify calls with a part of a request; the faults of the last one that was refused stay on it. */
type Check = ((value: unknown) => boolean) & { errors?: ErrorObject[] | null }

/**
 * How Fastify gets its checks: all faults at once, nothing coerced and nothing dropped, defaults filled in
 * (decisions 1.2, 1.3). A schema is compiled when its route is first asked: all of them together take longer than
 * everything else of a start, and a process of few roles never needs most of them.
 */
export function createCompiler(): FastifySchemaCompiler<AnySchema> {
  const ajv = new Ajv({ useDefaults: true, addUsedSchema: false, allErrors: true })
  addFormats.default(ajv)
  for (const [name, format] of Object.entries(FORMATS)) ajv.addFormat(name, format)
  return ({ schema }) => {
    let compiled: ValidateFunction | null = null
    const check: Check = value => {
      compiled ??= ajv.compile(schema)
      const isValid = compiled(value)
      check.errors = compiled.errors
      return isValid
    }
    return check
  }
}
