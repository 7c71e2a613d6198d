import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { FORMATS } from '../../control-plane/foundation/web/validation/validation-errors.ts'
import type { Schema } from './operations.ts'

/** A place in a body: the keys on the path to it. */
export type Place = (string | number)[]
type Json = Record<string, unknown>

const ajv = new Ajv2020({ strict: false })
formats.default(ajv)
for (const [name, format] of Object.entries(FORMATS)) ajv.addFormat(name, format)

export const toPlaceName = (place: Place) =>
  place.map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i > 0 ? '.' : ''}${key}`)).join('')

/** The places of a valid body whose schema accepts any text of one line, including places without a value. */
export function listTextFields(schema: Schema, valid: unknown): Place[] {
  const check = ajv.compile(schema)
  const places = new Map([...textsIn(valid), ...textsWithout(schema, valid)].map(place => [toPlaceName(place), place]))
  return [...places.values()].filter(place => check(withTextAt(valid, place, 'any text')))
}

/** The places of a value with texts. */
function textsIn(value: unknown, place: Place = []): Place[] {
  if (typeof value === 'string') return [place]
  if (Array.isArray(value)) return value.flatMap((item, i) => textsIn(item, [...place, i]))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, [...place, key]))
}

/** The places where a schema accepts a text and a valid value has none. */
function textsWithout(schema: Schema, valid: unknown, place: Place = []): Place[] {
  const branches: Schema[] = schema.anyOf?.filter((one: Schema) => one.type !== 'null') ?? [schema]
  if (valid === undefined || valid === null) return branches.some(one => one.type === 'string') ? [place] : []
  const fitting = branches.find(one => ajv.compile(one)(valid))
  if (fitting === undefined) return []
  if (fitting.type === 'array')
    return (valid as unknown[]).flatMap((item, i) => textsWithout(fitting.items ?? {}, item, [...place, i]))
  return Object.entries<Schema>(fitting.properties ?? {}).flatMap(([key, inner]) =>
    textsWithout(inner, (valid as Json)[key], [...place, key]),
  )
}

/** A copy with another text at one path. */
export function withTextAt<T>(value: T, place: Place, text: string): T {
  const [key, ...rest] = place
  if (key === undefined) return text as T
  if (Array.isArray(value)) return value.map((item, i) => (i === key ? withTextAt(item, rest, text) : item)) as T
  return { ...value, [key]: withTextAt((value as Json)[key], rest, text) }
}

/** The value at a path; undefined when there is none. */
export const valueAt = (value: unknown, place: Place): unknown =>
  place.reduce<unknown>((inner, key) => (inner as Json | null | undefined)?.[key], value)
