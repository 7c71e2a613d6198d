import type { ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { FORMATS } from '../../control-plane/foundation/web/validation/validation-errors.ts'
import type { Operation, Schema } from './operations.ts'

// optimizing takes longer than the checks of all answers
const ajv = new Ajv2020({ strict: false, allErrors: true, addUsedSchema: false, code: { optimize: false } })
formats.default(ajv)
for (const [name, format] of Object.entries(FORMATS)) ajv.addFormat(name, format)

/** By the schema, and by its JSON: all operations have the same schema of errors. */
const ofSchema = new WeakMap<Schema, ValidateFunction>()
const ofJson = new Map<string, ValidateFunction>()

/** Returns how an answer differs from the OpenAPI document for its status; empty: it matches. */
export function findAnswerDifferences({ answers }: Operation, status: number, body: unknown): unknown[] {
  const check = compile(answers[status] ?? answers.default)
  return check(body)
    ? []
    : (check.errors ?? []).map(({ instancePath, message, params }) => ({ instancePath, message, params }))
}

/** The check of a closed schema, which is compiled once. */
function compile(schema: Schema): ValidateFunction {
  const known = ofSchema.get(schema)
  if (known) return known
  const json = JSON.stringify(schema)
  const check = ofJson.get(json) ?? ajv.compile(closed(schema))
  ofJson.set(json, check)
  ofSchema.set(schema, check)
  return check
}

/** The schema with additional properties forbidden in every object that names its properties. */
function closed(schema: Schema): Schema {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  const isFree = schema.type !== 'object' || !schema.properties || schema.additionalProperties !== undefined
  return isFree ? inner : { ...inner, additionalProperties: false }
}
