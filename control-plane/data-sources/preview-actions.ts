import type { Egress } from '../../shared/egress/index.ts'
import { isId } from '../platform/ids.ts'
import type { Db } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import { assertMayLead, type Caller } from '../web/auth.ts'
import { notFound } from '../web/errors.ts'
import { secretsLedElsewhere } from '../web/kept-secrets.ts'
import { draftSource } from './actions.ts'
import type { Child, Outcome } from './evaluate.ts'
import { examineAnswer } from './examine-reader.ts'
import { fetchAnswer } from './fetch-reader.ts'
import { fieldOfCreate, type SourceFields } from './fields.ts'
import { requestHeadersOf } from './request-headers.ts'
import type { SourcePreview } from './schema.ts'
import { openSource } from './sealed.ts'
import { findSource } from './store.ts'
import type { Typed } from './text.ts'
import type { FieldDefinition } from './types.ts'

/** What a source would make of its document now, each child with the place of its field; `failure`: why there is none. */
export type Preview = {
  failure: { code: string; message: string } | null
  children: (Pick<Child, 'key' | 'name' | 'reason'> & { field_index: number; value: Typed; status: Outcome })[]
  notes: string[]
}

/** A source that is not stored, and its fields. */
export type Draft = { source: SourceFields; fields: FieldDefinition[] }

export type PreviewTools = { db: Db; secrets: Secrets; egress: Egress }

/**
 * What a body describes; each field has its place as its id. Throws 404, 400, and 403 where secrets of a stored source
 * would go to another origin (assertMayLead).
 */
export async function draftPreview(tools: PreviewTools, caller: Caller, body: SourcePreview): Promise<Draft> {
  const { data_source_id: id, ...described } = body
  const stored = id === undefined ? null : await readStored(tools, caller.projectId, id)
  const source = draftSource({ name: 'preview', ...described }, tools.egress.checkLiteral, stored)
  const sent = { headers: body.headers ?? null, auth_config: body.auth_config ?? null }
  if (stored) assertMayLead(caller, secretsLedElsewhere(stored, source, sent))
  const fields = (body.fields ?? []).map((field, place) => ({ ...fieldOfCreate(field, place), id: String(place) }))
  return { source, fields }
}

async function readStored({ db, secrets }: PreviewTools, projectId: string, id: string): Promise<SourceFields> {
  const source = isId(id) ? await findSource(db, projectId, id) : null
  if (!source) throw notFound('data source')
  return { ...source, ...openSource(source, secrets) }
}

/** Fetches a draft and shows its children; stores nothing (decisions 9.1). That it cannot be fetched is an answer too. */
export async function preview(egress: Egress, projectId: string, { source, fields }: Draft): Promise<Preview> {
  const answer = await fetchAnswer(egress, source, requestHeadersOf(source, source))
  const examined =
    'failure' in answer ? answer : await examineAnswer(egress, { ...source, projectId, fields }, answer, 'preview')
  if ('failure' in examined) {
    const { code, message } = examined.failure
    return { failure: { code, message }, children: [], notes: [] }
  }
  const { children, notes } = examined.evaluation
  const shown = children.map(({ fieldId, key, name, typed, outcome, reason }) => ({
    ...{ field_index: Number(fieldId), key, name, value: typed },
    ...{ status: outcome, reason },
  }))
  return { failure: null, children: shown, notes }
}
