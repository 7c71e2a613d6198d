import fc, { type Arbitrary } from 'fast-check'
import type { Schema } from './operations.ts'

/** Ids of existing records, by the name of the property that refers to them. */
export type KnownIds = Record<string, string>

const MAX_LENGTH = 12
const ADDRESSES = ['http://127.0.0.1:9/', 'https://shop.example.com/a?b=c', 'tcp://127.0.0.1:1', 'file:///etc/passwd']
const TEXTS = ['', ' ', '\u0000', 'a\r\nb: c', '‮', '{{x}}', "' OR 1=1 --", '<img src=x>', '*', '$.a[*]', '../..']

/** Generates values that a JSON Schema allows, and sometimes one that it does not, at any place. */
export function createArbitrary(schema: Schema, ids: KnownIds, name = ''): Arbitrary<unknown> {
  const good = buildValidValue(schema, ids, name)
  return fc.oneof(
    { weight: 15, arbitrary: good },
    { weight: 1, arbitrary: fc.oneof(fc.jsonValue(), fc.constantFrom(...TEXTS)) },
  )
}

function buildValidValue(schema: Schema, ids: KnownIds, name: string): Arbitrary<unknown> {
  const known = ids[name]
  if (known !== undefined && schema.type === 'string') return fc.oneof(fc.constant(known), fc.uuid({ version: 7 }))
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one: Schema) => buildValidValue(one, ids, name)))
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if ('const' in schema) return fc.constant(schema.const)
  switch (schema.type) {
    case 'string':
      return buildText(schema)
    case 'integer':
      return fc.integer({ min: schema.minimum, max: schema.maximum })
    case 'number':
      return fc.double({ min: schema.minimum, max: schema.maximum, noNaN: true, noDefaultInfinity: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return buildList(schema, ids, name)
    case 'object':
      return buildObject(schema, ids)
    default:
      return fc.jsonValue({ maxDepth: 3 })
  }
}

function buildText({
  format,
  pattern,
  minLength = 0,
  maxLength = Number.POSITIVE_INFINITY,
}: Schema): Arbitrary<string> {
  if (pattern) return fc.stringMatching(new RegExp(pattern), { maxLength: Math.min(maxLength, MAX_LENGTH) })
  if (format === 'email') return fc.emailAddress()
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map(date => date.toISOString())
  const length = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, MAX_LENGTH)) }
  return fc.oneof(
    fc.string({ ...length, unit: 'grapheme' }),
    fc.string(length),
    fc.constantFrom(...ADDRESSES, ...TEXTS),
  )
}

function buildList(schema: Schema, ids: KnownIds, name: string): Arbitrary<unknown[]> {
  const { items = {}, minItems: minLength = 0, maxItems = MAX_LENGTH, uniqueItems } = schema
  const item = buildValidValue(items, ids, name.replace(/_ids$/, '_id'))
  const length = { minLength, maxLength: Math.min(maxItems, 4) }
  return uniqueItems
    ? fc.uniqueArray(item, { ...length, selector: one => JSON.stringify(one) })
    : fc.array(item, length)
}

function buildObject(schema: Schema, ids: KnownIds): Arbitrary<unknown> {
  if (!schema.properties) {
    const values =
      typeof schema.additionalProperties === 'object'
        ? buildValidValue(schema.additionalProperties, ids, '')
        : fc.jsonValue()
    return fc.dictionary(fc.string({ maxLength: MAX_LENGTH }), values, { maxKeys: 4 })
  }
  const properties = Object.entries<Schema>(schema.properties).map(([key, one]) => [
    key,
    createArbitrary(one, ids, key),
  ])
  return fc.record(Object.fromEntries(properties), { requiredKeys: schema.required ?? [] })
}
