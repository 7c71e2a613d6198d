import type { Egress } from '../../../../shared/egress/types.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { type ApiCaller, assertMayRedirectSecrets } from '../../../foundation/web/auth/authentication.ts'
import { findRedirectedSecrets } from '../../../foundation/web/masked-secrets/secret-redirect.ts'
import { found } from '../../../foundation/web/server/errors.ts'
import { decryptSource } from '../configuration/encryption.ts'
import { type SourceSettings, toFieldSettings } from '../configuration/settings.ts'
import { draftSource } from '../configuration/source-actions.ts'
import { findSource } from '../configuration/source-store.ts'
import { MAX_SHOWN_BYTES } from '../document/shown-document.ts'
import type { ScalarValue } from '../document/text.ts'
import type { ChildOutcome, EvaluatedChild } from '../evaluation/evaluate.ts'
import { evaluateRawDocument } from '../evaluation/examine-reader.ts'
import { requestDocument } from '../fetching/http-reader.ts'
import { buildRequestHeaders } from '../fetching/request-headers.ts'
import type { FieldDefinition } from '../types.ts'
import type { SourcePreview } from './request-schema.ts'

/**
 * The monitors that a source would make now, each with the index of its field. `failure`: why the fetch failed. `document`: at
 * most MAX_SHOWN_BYTES of it.
 */
type PreviewResult = {
  failure: { code: string; message: string } | null
  children: (Pick<EvaluatedChild, 'key' | 'name' | 'reason'> & {
    field_index: number
    value: ScalarValue
    status: ChildOutcome
  })[]
  notes: string[]
  document: unknown
  document_note: string | null
}

/** A source that is not stored, with its fields. */
type PreviewDraft = { source: SourceSettings; fields: FieldDefinition[] }

type PreviewTools = { db: Db; secrets: SecretCipher; egress: Egress }

/**
 * Builds the draft that a body describes. The id of each field is its index. Throws 404, 400, and 403 when secrets of
 * a stored source would go to another origin (assertMayRedirectSecrets).
 */
export async function draftPreview(tools: PreviewTools, caller: ApiCaller, body: SourcePreview): Promise<PreviewDraft> {
  const { data_source_id: id, ...described } = body
  const stored = id === undefined ? null : await loadStoredSettings(tools, caller.projectId, id)
  const source = draftSource({ name: 'preview', ...described }, tools.egress.checkLiteral, stored)
  const sent = { headers: body.headers ?? null, auth_config: body.auth_config ?? null }
  if (stored) assertMayRedirectSecrets(caller, findRedirectedSecrets(stored, source, sent))
  const fields = (body.fields ?? []).map((field, place) => ({ ...toFieldSettings(field, place), id: String(place) }))
  return { source, fields }
}

async function loadStoredSettings(
  { db, secrets }: PreviewTools,
  projectId: string,
  id: string,
): Promise<SourceSettings> {
  const source = found(isId(id) && (await findSource(db, projectId, id)), 'data source')
  return { ...source, ...decryptSource(source, secrets) }
}

const CUT_NOTE = `the document is larger than ${MAX_SHOWN_BYTES / 1_024} KiB; the last entries of long lists and objects are left out, and long texts are shortened`

/** Fetches a draft and returns its children; stores nothing. A failed fetch is a result, not an error. */
export async function previewSource(
  egress: Egress,
  projectId: string,
  { source, fields }: PreviewDraft,
): Promise<PreviewResult> {
  const answer = await requestDocument(egress, source, buildRequestHeaders(source, source))
  const examined =
    'failure' in answer
      ? answer
      : await evaluateRawDocument(egress, { ...source, projectId, fields }, answer, 'preview')
  if ('failure' in examined) {
    const { code, message } = examined.failure
    return { failure: { code, message }, children: [], notes: [], document: null, document_note: null }
  }
  const { evaluation, document } = examined
  const { children, notes } = evaluation
  const shown = children.map(({ fieldId, key, name, typed, outcome, reason }) => ({
    ...{ field_index: Number(fieldId), key, name, value: typed },
    ...{ status: outcome, reason },
  }))
  const note = document?.isCut ? CUT_NOTE : null
  return { failure: null, children: shown, notes, document: document?.value ?? null, document_note: note }
}
