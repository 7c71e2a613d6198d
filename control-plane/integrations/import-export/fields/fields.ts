import { isDeepStrictEqual } from 'node:util'
import type { TProperties } from 'typebox'
import { createInterner } from '../../../foundation/platform/cache/intern.ts'

/** The fields of a record with the names of the file. Secrets are in plain text until they are masked. */
export type RecordFields = Record<string, unknown>

/** A change of one field. `is_secret`: only masked values differ. */
export type FieldChange = { from: unknown; to: unknown; is_secret?: true }

const internName = createInterner<string>(1_000)

/** Converts the keys of an object: `intervalSeconds` becomes `interval_seconds`. */
export function toSnakeKeys(record: object): RecordFields {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [
      internName(key, () => key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)),
      value,
    ]),
  )
}

/** Returns the properties of a record that a schema has, in the order of the schema. */
export function pick(record: object, properties: TProperties): RecordFields {
  const own = record as RecordFields
  return Object.fromEntries(Object.keys(properties).flatMap(key => (key in own ? [[key, own[key]]] : [])))
}

/** Without what is null or as it would be without being said. */
export function omitDefaults(fields: RecordFields, defaults: RecordFields): RecordFields {
  return Object.fromEntries(
    Object.entries(fields).filter(([key, value]) => value != null && !isDeepStrictEqual(value, defaults[key])),
  )
}

/** Returns the fields that differ, with masked secrets. */
export function diffFields(before: RecordFields, after: RecordFields, show: (fields: RecordFields) => RecordFields) {
  const changed = Object.keys(after).filter(key => !isDeepStrictEqual(before[key] ?? null, after[key] ?? null))
  const [shownBefore, shownAfter] = [show(before), show(after)]
  return Object.fromEntries(
    changed.map(key => {
      const [from, to] = [shownBefore[key] ?? null, shownAfter[key] ?? null]
      return [key, isDeepStrictEqual(from, to) ? { from, to, is_secret: true as const } : { from, to }]
    }),
  ) as Record<string, FieldChange>
}

/** Returns the fields of a new record as changes. */
export function describeNewFields(fields: RecordFields): Record<string, FieldChange> {
  return Object.fromEntries(Object.entries(fields).map(([key, to]) => [key, { from: null, to }]))
}
