import { isDeepStrictEqual } from 'node:util'
import type { TProperties } from 'typebox'
import { createInterner } from '../../../foundation/platform/cache/intern.ts'

/** What a file says of a record, in its names; secrets are in plain text until `Shown`. */
export type RecordFields = Record<string, unknown>

/** Of one field: what it is and what it becomes. `is_secret`: only what is masked in both differs. */
export type FieldChange = { from: unknown; to: unknown; is_secret?: true }

const nameOf = createInterner<string>(1_000)

/** `intervalSeconds` → `interval_seconds`, of the object's own keys. */
export function toSnakeKeys(record: object): RecordFields {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [
      nameOf(key, () => key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)),
      value,
    ]),
  )
}

/** The properties of a record that a schema names, in the order of the schema. */
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

/** The fields that differ, as people may see them. */
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

/** All that is said of a new record. */
export function describeNewFields(fields: RecordFields): Record<string, FieldChange> {
  return Object.fromEntries(Object.entries(fields).map(([key, to]) => [key, { from: null, to }]))
}
