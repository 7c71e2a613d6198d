import { isId, newId } from '../../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { conflict, type ErrorDetail, found, notFound, validationError } from '../../../foundation/web/server/errors.ts'
import { isEmptyUpdate } from '../../../foundation/web/validation/empty-update.ts'
import { lockMonitors } from '../../../monitoring/monitors/store.ts'
import { retireMonitors } from '../../../verdict/core/monitor-lifecycle-actions.ts'
import { type FieldCreate, type FieldInput, type FieldUpdate, MAX_FIELDS } from '../api/request-schema.ts'
import type { StoredField, StoredSource } from '../types.ts'
import { listChildMonitors, listFields, markArchived, removeFields, saveFields } from './field-store.ts'
import { withLockedSource } from './lock-actions.ts'
import { applyFieldUpdate, type FieldSettings, toFieldSettings } from './settings.ts'
import { resetSource } from './source-store.ts'
import { findFieldProblems } from './validation.ts'

export type FieldTools = { db: Db; publicUrl: string }

/** Adds a field at the end, or at its `display_order`. Throws 400, 404, and 409 when the source has too many fields. */
export async function createField(
  { db }: FieldTools,
  projectId: string,
  sourceId: string,
  body: FieldCreate,
  now: Date,
) {
  assertNoProblems(findFieldProblems(toFieldSettings(body, 0)))
  return withLockedSource(db, projectId, sourceId, async (tx, source) => {
    const fields = await listFields(tx, [source.id])
    const order = fields.reduce((last, { displayOrder }) => Math.max(last, displayOrder), -1) + 1
    const field = toStoredField(toFieldSettings(body, order), source, now)
    if (fields.length >= MAX_FIELDS) throw conflict(`a data source can have at most ${MAX_FIELDS} fields`)
    return saveField(tx, source, field, now)
  })
}

/** Updates the properties in the body. Throws 404 and 400. */
export function changeField(
  { db }: FieldTools,
  projectId: string,
  sourceId: string,
  id: string,
  body: FieldUpdate,
  now: Date,
) {
  return withLockedSource(db, projectId, sourceId, async (tx, source) => {
    const before = await getField(tx, source, id)
    if (isEmptyUpdate(body)) return before
    const field = { ...applyFieldUpdate(before, body), updatedAt: now }
    assertNoProblems(findFieldProblems(field))
    return saveField(tx, source, field, now)
  })
}

/** Deletes a field and archives its monitors. Throws 404. */
export function deleteField({ db, publicUrl }: FieldTools, projectId: string, sourceId: string, id: string, now: Date) {
  return withLockedSource(db, projectId, sourceId, async (tx, source) => {
    const field = await getField(tx, source, id)
    await deleteFieldsWithChildren(tx, source, [field.id], publicUrl, now)
    await resetSource(tx, source.id, now)
  })
}

/**
 * Replaces the fields of a source that the caller has locked, matched by id, and archives the monitors of fields that
 * are left out. The inputs are valid. Throws 404 for an id that the source does not have, 400 for a repeated id.
 */
export async function replaceFields(tx: Tx, source: StoredSource, inputs: FieldInput[], publicUrl: string, now: Date) {
  const before = new Map((await listFields(tx, [source.id])).map(field => [field.id, field]))
  const fields = inputs.map((input, index): StoredField => {
    const known = input.id === undefined ? null : before.get(input.id.toLowerCase())
    if (known === undefined) throw notFound('field')
    const field = toFieldSettings(input, index)
    return known === null ? toStoredField(field, source, now) : { ...known, ...field, updatedAt: now }
  })
  const kept = new Set(fields.map(({ id }) => id))
  assertNoProblems(fields.flatMap(({ id }, i) => findRepeatedId(fields, id, i)))
  const omitted = [...before.keys()].filter(id => !kept.has(id))
  await deleteFieldsWithChildren(tx, source, omitted, publicUrl, now)
  await saveFields(tx, fields)
}

function findRepeatedId(fields: StoredField[], id: string, i: number): ErrorDetail[] {
  const isRepeated = fields.findIndex(field => field.id === id) < i
  return isRepeated ? [{ path: `fields[${i}].id`, message: `fields[${i}].id repeats the id of an earlier field` }] : []
}

async function deleteFieldsWithChildren(
  tx: Tx,
  source: StoredSource,
  ids: string[],
  publicUrl: string,
  now: Date,
): Promise<void> {
  if (ids.length === 0) return
  await retireChildren(tx, source, ids, 'archived', publicUrl, now)
  await removeFields(tx, ids)
}

/** Deletes or archives the monitors of fields and resolves their incidents. The caller has locked the source. */
export async function retireChildren(
  tx: Tx,
  source: StoredSource,
  fieldIds: string[],
  reason: 'deleted' | 'archived',
  publicUrl: string,
  now: Date,
): Promise<void> {
  const children = (await listChildMonitors(tx, [source.id])).filter(({ fieldId }) => fieldIds.includes(fieldId))
  if (children.length === 0) return
  const ids = children.map(({ monitorId }) => monitorId)
  await retireMonitors(tx, await lockMonitors(tx, ids), reason, publicUrl, now)
  await markArchived(tx, ids, now)
}

const toStoredField = (field: FieldSettings, source: StoredSource, now: Date): StoredField => ({
  ...field,
  id: newId(),
  dataSourceId: source.id,
  createdAt: now,
  updatedAt: now,
})

async function getField(tx: Tx, source: StoredSource, id: string): Promise<StoredField> {
  const fields = isId(id) ? await listFields(tx, [source.id]) : []
  return found(
    fields.find(candidate => candidate.id === id.toLowerCase()),
    'field',
  )
}

async function saveField(tx: Tx, source: StoredSource, field: StoredField, now: Date): Promise<StoredField> {
  await saveFields(tx, [field])
  await resetSource(tx, source.id, now)
  return field
}

function assertNoProblems(problems: ErrorDetail[]): void {
  if (problems.length > 0) throw validationError(problems)
}
