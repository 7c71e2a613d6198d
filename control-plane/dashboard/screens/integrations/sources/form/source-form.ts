import type { AUTH_TYPES, METHODS } from '../../../../../integrations/data-sources/types.ts'
import type { OperationArguments, OperationResponse } from '../../../../core/operations.ts'
import type { FieldProblem } from '../../../../parts/forms/field-errors.ts'
import { type HeaderRow, listRepeatedNames, toPairObject, toPairs } from '../../../../parts/forms/pairs-field.tsx'
import { type FieldForm, toFieldBody, toFieldForm } from './field-form.ts'

export type SourceRecord = OperationResponse<'readDataSource'>['data']
type SourceBody = OperationArguments<'createDataSource'>['body']
export type SourceUpdateBody = OperationArguments<'updateDataSource'>['body']
type PreviewBody = OperationArguments<'previewDataSource'>['body']

/** A data source as it is in the form: numbers as they are typed, the timeout in seconds. */
export type SourceForm = {
  name: string
  description: string
  url: string
  method: (typeof METHODS)[number]
  headers: HeaderRow[]
  body: string
  auth_type: (typeof AUTH_TYPES)[number] | ''
  auth_config: Record<string, string>
  root_path: string
  fetch_interval_s: string
  timeout_s: string
  fields: FieldForm[]
}

export const EMPTY_SOURCE: SourceForm = {
  ...{ name: '', description: '', url: '', method: 'GET', headers: [], body: '', auth_type: '', auth_config: {} },
  ...{ root_path: '', fetch_interval_s: '60', timeout_s: '10', fields: [] },
}

/** The form of a stored source. Secrets are masks, which mean the stored values when they are sent back. */
export const toSourceForm = (record: SourceRecord): SourceForm => ({
  name: record.name,
  description: record.description ?? '',
  url: record.url,
  method: record.method,
  headers: toPairs(record.headers),
  body: record.body ?? '',
  auth_type: record.auth_type ?? '',
  auth_config: Object.fromEntries(Object.entries(record.auth_config ?? {}).map(([key, value]) => [key, String(value)])),
  root_path: record.root_path ?? '',
  fetch_interval_s: String(record.fetch_interval_s),
  timeout_s: String(record.timeout_ms / 1_000),
  fields: record.fields.map(toFieldForm),
})

/** What the credentials of a kind consist of. */
export const CREDENTIALS: Record<SourceForm['auth_type'], { key: string; label: string; isSecret: boolean }[]> = {
  '': [],
  basic: [
    { key: 'username', label: 'User name', isSecret: false },
    { key: 'password', label: 'Password', isSecret: true },
  ],
  bearer: [{ key: 'token', label: 'Token', isSecret: true }],
  api_key: [
    { key: 'header', label: 'Name of the header', isSecret: false },
    { key: 'value', label: 'Value', isSecret: true },
  ],
}

/** The body of a create. A source without a name gets that of its host. */
export function toSourceBody(form: SourceForm): SourceBody {
  const keys = CREDENTIALS[form.auth_type].map(({ key }) => key)
  return {
    name: form.name.trim() || toName(form.url),
    description: form.description.trim() || null,
    url: form.url.trim(),
    method: form.method,
    headers: toPairObject(form.headers),
    body: form.method === 'POST' && form.body !== '' ? form.body : null,
    auth_type: form.auth_type || null,
    auth_config: keys.length === 0 ? null : Object.fromEntries(keys.map(key => [key, form.auth_config[key] ?? ''])),
    root_path: form.root_path.trim() || null,
    fetch_interval_s: Number(form.fetch_interval_s),
    timeout_ms: Math.round(Number(form.timeout_s) * 1_000),
    fields: form.fields.map(toFieldBody),
  }
}

const toName = (url: string) => (URL.canParse(url.trim()) ? new URL(url.trim()).host : url.trim())

/** Only what changed. Null: nothing. `fields`, when there are changes, is the whole list. */
export function toSourceUpdate(stored: SourceRecord, form: SourceForm): SourceUpdateBody | null {
  const [before, after] = [toSourceBody(toSourceForm(stored)), toSourceBody(form)]
  const changed = Object.entries(after).filter(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key as keyof SourceBody]),
  )
  // credentials are checked together with their kind
  const body = Object.fromEntries(changed) as SourceUpdateBody
  if ('auth_config' in body && after.auth_type !== null) body.auth_type = after.auth_type
  return changed.length === 0 ? null : body
}

/** The body of a preview. `id`: of the source whose stored secrets the masks mean. */
export function toPreviewBody(form: SourceForm, id: string | null, fields = form.fields): PreviewBody {
  const { name, description, ...body } = toSourceBody({ ...form, fields: [] })
  return { ...body, fields: fields.map(toFieldBody), ...(id !== null && { data_source_id: id }) }
}

/** The settings on which a fetched document depends, as one text. */
export const describeRequest = (form: SourceForm): string => JSON.stringify(toPreviewBody(form, null, []))

/** Headers that an object cannot contain twice, in the words of the API. */
export const findSourceFormProblems = ({ headers }: SourceForm): FieldProblem[] =>
  listRepeatedNames(headers).map(name => ({ path: 'headers', message: `the header "${name}" is listed twice` }))

/** The monitors of fields that the form does not contain any more. They are archived. */
export function listRemovedChildren(
  stored: SourceRecord,
  form: SourceForm,
): SourceRecord['fields'][number]['child_monitors'] {
  const kept = new Set(form.fields.map(({ id }) => id))
  return stored.fields.filter(({ id }) => !kept.has(id)).flatMap(field => field.child_monitors)
}
