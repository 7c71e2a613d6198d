import { lockMonitors } from '../monitors/store.ts'
import { isId, newId } from '../platform/ids.ts'
import type { Db, Tx } from '../platform/postgres.ts'
import { retireMonitors } from '../verdict/actions.ts'
import { conflict, type Detail, notFound, validationError } from '../web/errors.ts'
import { namesNothing } from '../web/names-nothing.ts'
import { childMonitorsOf, fieldsOfSources, markArchived, removeFields, saveFields } from './field-store.ts'
import { type FieldFields, fieldOfCreate, fieldOfUpdate } from './fields.ts'
import { inSource } from './hold-actions.ts'
import { fieldProblems } from './problems.ts'
import { type FieldCreate, type FieldInput, type FieldUpdate, MOST_FIELDS } from './schema.ts'
import { startAnew } from './store.ts'
import type { StoredField, StoredSource } from './types.ts'

export type FieldTools = { db: Db; publicUrl: string }

/** Adds a field at the end, or where its `display_order` says. Throws 404, 400, and 409 when the source is full. */
export function createField({ db }: FieldTools, projectId: string, sourceId: string, body: FieldCreate, now: Date) {
  return inSource(db, projectId, sourceId, async (tx, source) => {
    const fields = await fieldsOfSources(tx, [source.id])
    const place = fields.reduce((last, { displayOrder }) => Math.max(last, displayOrder), -1) + 1
    const field = toStored(fieldOfCreate(body, place), source, now)
    refuse(fieldProblems(field))
    if (fields.length >= MOST_FIELDS) throw conflict(`a data source has at most ${MOST_FIELDS} fields`)
    return save(tx, source, field, now)
  })
}

/** Changes what the body names. Throws 404 and 400. */
export function changeField(
  { db }: FieldTools,
  projectId: string,
  sourceId: string,
  id: string,
  body: FieldUpdate,
  now: Date,
) {
  return inSource(db, projectId, sourceId, async (tx, source) => {
    const before = await fieldOf(tx, source, id)
    if (namesNothing(body)) return before
    const field = { ...fieldOfUpdate(before, body), updatedAt: now }
    refuse(fieldProblems(field))
    return save(tx, source, field, now)
  })
}

/** Removes a field; its monitors are archived. Throws 404. */
export function deleteField({ db, publicUrl }: FieldTools, projectId: string, sourceId: string, id: string, now: Date) {
  return inSource(db, projectId, sourceId, async (tx, source) => {
    const field = await fieldOf(tx, source, id)
    await dropFields(tx, source, [field.id], publicUrl, now)
    await startAnew(tx, source.id, now)
  })
}

/**
 * Makes these the fields of a source that the caller holds, matched by id; the monitors of those that are left out are
 * archived (decisions 9.1). The inputs are valid. Throws 404 for an id that the source has not, 400 for one named twice.
 */
export async function replaceFields(tx: Tx, source: StoredSource, inputs: FieldInput[], publicUrl: string, now: Date) {
  const before = new Map((await fieldsOfSources(tx, [source.id])).map(field => [field.id, field]))
  const fields = inputs.map((input, place): StoredField => {
    const known = input.id === undefined ? null : before.get(input.id.toLowerCase())
    if (known === undefined) throw notFound('field')
    const field = fieldOfCreate(input, place)
    return known === null ? toStored(field, source, now) : { ...known, ...field, updatedAt: now }
  })
  const kept = new Set(fields.map(({ id }) => id))
  refuse(fields.flatMap(({ id }, i) => repeatedAt(fields, id, i)))
  const left = [...before.keys()].filter(id => !kept.has(id))
  await dropFields(tx, source, left, publicUrl, now)
  await saveFields(tx, fields)
}

function repeatedAt(fields: StoredField[], id: string, i: number): Detail[] {
  const isRepeated = fields.findIndex(field => field.id === id) < i
  return isRepeated ? [{ path: `fields[${i}].id`, message: `fields[${i}].id names a field that is there already` }] : []
}

async function dropFields(tx: Tx, source: StoredSource, ids: string[], publicUrl: string, now: Date): Promise<void> {
  if (ids.length === 0) return
  await retireChildren(tx, source, ids, 'archived', publicUrl, now)
  await removeFields(tx, ids)
}

/** Lets the monitors of some fields of a source go, with the ends of their incidents. The caller holds the source. */
export async function retireChildren(
  tx: Tx,
  source: StoredSource,
  fieldIds: string[],
  why: 'deleted' | 'archived',
  publicUrl: string,
  now: Date,
): Promise<void> {
  const children = (await childMonitorsOf(tx, [source.id])).filter(({ fieldId }) => fieldIds.includes(fieldId))
  if (children.length === 0) return
  const ids = children.map(({ monitorId }) => monitorId)
  await retireMonitors(tx, await lockMonitors(tx, ids), why, publicUrl, now)
  await markArchived(tx, ids, now)
}

const toStored = (field: FieldFields, source: StoredSource, now: Date): StoredField => ({
  ...field,
  id: newId(),
  dataSourceId: source.id,
  createdAt: now,
  updatedAt: now,
})

async function fieldOf(tx: Tx, source: StoredSource, id: string): Promise<StoredField> {
  const fields = isId(id) ? await fieldsOfSources(tx, [source.id]) : []
  const field = fields.find(one => one.id === id.toLowerCase())
  if (!field) throw notFound('field')
  return field
}

async function save(tx: Tx, source: StoredSource, field: StoredField, now: Date): Promise<StoredField> {
  await saveFields(tx, [field])
  await startAnew(tx, source.id, now)
  return field
}

function refuse(problems: Detail[]): void {
  if (problems.length > 0) throw validationError(problems)
}
