import type { Egress } from '../../shared/egress/index.ts'
import type { CheckLiteral } from '../channels/types.ts'
import { draftSource } from './actions.ts'
import { type Child, evaluate, type Outcome, urlsToAsk } from './evaluate.ts'
import { askUrls, fetchDocument } from './fetch-reader.ts'
import { fieldOfCreate, type SourceFields } from './fields.ts'
import { requestHeadersOf } from './request-headers.ts'
import type { SourcePreview } from './schema.ts'
import type { FieldDefinition } from './types.ts'

/** What a source would make of its document now, each child with the place of its field; `failure`: why there is none. */
export type Preview = {
  failure: { code: string; message: string } | null
  children: (Omit<Child, 'fieldId' | 'outcome'> & { field_index: number; status: Outcome })[]
  notes: string[]
}

/** A source that is not stored, and its fields. */
export type Draft = { source: SourceFields; fields: FieldDefinition[] }

/** What a body describes; each field has its place as its id. Throws 400. */
export function draftPreview(body: SourcePreview, checkLiteral: CheckLiteral): Draft {
  const source = draftSource({ name: 'preview', ...body }, checkLiteral)
  const fields = (body.fields ?? []).map((field, place) => ({ ...fieldOfCreate(field, place), id: String(place) }))
  return { source, fields }
}

/** Fetches a draft and shows its children; stores nothing (decisions 9.1). That it cannot be fetched is an answer too. */
export async function preview(egress: Egress, { source, fields }: Draft, now: Date): Promise<Preview> {
  const fetched = await fetchDocument(egress, source, requestHeadersOf(source, source))
  if ('failure' in fetched) {
    const { code, message } = fetched.failure
    return { failure: { code, message }, children: [], notes: [] }
  }
  const { document } = fetched
  const answers = await askUrls(egress, urlsToAsk(document, source, fields), source.timeoutMs)
  const { children, notes } = evaluate(document, source, fields, now, answers)
  const shown = children.map(({ fieldId, outcome, ...child }) => ({
    field_index: Number(fieldId),
    ...child,
    status: outcome,
  }))
  return { failure: null, children: shown, notes }
}
