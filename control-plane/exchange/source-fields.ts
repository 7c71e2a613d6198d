import { maskAuth } from '../data-sources/credentials.ts'
import { type SourceFields, sourceOfCreate } from '../data-sources/fields.ts'
import { unmaskSource } from '../data-sources/problems.ts'
import { DEFAULTS, FieldConfig, type FieldCreate, type FieldInput, SourceCreate } from '../data-sources/schema.ts'
import { openSource } from '../data-sources/sealed.ts'
import type { AuthType, StoredField, StoredSource } from '../data-sources/types.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { AuthConfig } from '../web/credentials.ts'
import { validationError } from '../web/errors.ts'
import { type HeaderMap, maskHeaders } from '../web/header-map.ts'
import type { SourceEntry, SourceFieldEntry } from './document.ts'
import { concise, type Fields, pick, snakeKeys } from './fields.ts'
import type { Key } from './pairs.ts'

export const SOURCE_DEFAULTS: Fields = DEFAULTS
const { fields: _, ...ofItself } = SourceCreate.properties
const { id: ___, display_order: __, ...ofField } = FieldConfig.properties

/** The part of an entry that a create takes, without its fields. */
export const sourceBodyOf = (entry: SourceEntry) => pick(entry, ofItself) as SourceCreate

/** A source in the names of the file, its secrets in plain text. */
export const storedSourceFields = (source: StoredSource, secrets: Secrets): Fields =>
  sourceFields({ ...source, ...openSource(source, secrets) })

const sourceFields = (source: SourceFields): Fields => pick(snakeKeys(source), ofItself)

/** What an entry makes of a source. Throws 400 for masks with nothing behind them. */
export function sourceFieldsAfter(entry: SourceEntry, stored: StoredSource, secrets: Secrets): Fields {
  const before = { ...stored, ...openSource(stored, secrets) }
  const { source, problems } = unmaskSource(sourceOfCreate(sourceBodyOf(entry)), before)
  if (problems.length > 0) throw validationError(problems)
  return sourceFields(source)
}

export const newSourceFields = (entry: SourceEntry): Fields => sourceFields(sourceOfCreate(sourceBodyOf(entry)))

/** Without secrets. */
export function showSource(fields: Fields): Fields {
  const { headers, auth_type, auth_config } = fields
  return {
    ...fields,
    headers: headers && maskHeaders(headers as HeaderMap),
    auth_config: auth_config && maskAuth(auth_type as AuthType, auth_config as AuthConfig),
  }
}

/** A field without its place, which is that in the list. */
export const storedFieldEntry = (field: StoredField): SourceFieldEntry =>
  ({ id: field.id, ...concise(pick(snakeKeys(field), ofField), {}) }) as SourceFieldEntry

/** A field is the one of its path and name; else the one of its path. */
export const FIELD_KEYS: Key<SourceFieldEntry, StoredField>[] = [
  {
    ofEntry: ({ path, name_template }) => `${path}\n${name_template}`,
    ofRow: ({ path, nameTemplate }) => `${path}\n${nameTemplate}`,
  },
  { ofEntry: ({ path }) => path, ofRow: ({ path }) => path },
]

/** As the API takes it, with the id of the stored field that it is. */
export const fieldInputOf = (entry: SourceFieldEntry, stored: StoredField | null): FieldInput => ({
  ...(pick(entry, ofField) as FieldCreate),
  degraded_rule_config: entry.degraded_rule_config ?? null,
  ...(stored && { id: stored.id }),
})
