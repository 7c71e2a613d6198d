import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { AuthConfig } from '../../../foundation/web/masked-secrets/credentials.ts'
import { type HeaderMap, maskHeaders } from '../../../foundation/web/masked-secrets/header-map.ts'
import { validationError } from '../../../foundation/web/server/errors.ts'
import {
  DATA_SOURCE_DEFAULTS,
  FieldConfig,
  type FieldCreate,
  type FieldInput,
  SourceCreate,
} from '../../data-sources/api/request-schema.ts'
import { maskAuth } from '../../data-sources/configuration/credentials.ts'
import { decryptSource } from '../../data-sources/configuration/encryption.ts'
import { type SourceSettings, toSourceSettings } from '../../data-sources/configuration/settings.ts'
import { unmaskSource } from '../../data-sources/configuration/validation.ts'
import type { SourceAuthType, StoredField, StoredSource } from '../../data-sources/types.ts'
import type { SourceEntry, SourceFieldEntry } from '../file/project-file.ts'
import type { MatchKey } from '../import/matching.ts'
import { omitDefaults, pick, type RecordFields, toSnakeKeys } from './fields.ts'

export const SOURCE_DEFAULTS: RecordFields = DATA_SOURCE_DEFAULTS
const { fields: _, ...ofItself } = SourceCreate.properties
const { id: ___, display_order: __, ...ofField } = FieldConfig.properties

/** The part of an entry that a create takes, without its fields. */
export const toSourceBody = (entry: SourceEntry) => pick(entry, ofItself) as SourceCreate

/** A source in the names of the file, its secrets in plain text. */
export const toStoredSourceFields = (source: StoredSource, secrets: SecretCipher): RecordFields =>
  toSourceFields({ ...source, ...decryptSource(source, secrets) })

const toSourceFields = (source: SourceSettings): RecordFields => pick(toSnakeKeys(source), ofItself)

/** What an entry makes of a source. Throws 400 for masks with nothing behind them. */
export function mergeSourceFields(entry: SourceEntry, stored: StoredSource, secrets: SecretCipher): RecordFields {
  const before = { ...stored, ...decryptSource(stored, secrets) }
  const { source, problems } = unmaskSource(toSourceSettings(toSourceBody(entry)), before)
  if (problems.length > 0) throw validationError(problems)
  return toSourceFields(source)
}

export const toNewSourceFields = (entry: SourceEntry): RecordFields =>
  toSourceFields(toSourceSettings(toSourceBody(entry)))

/** Without secrets. */
export function maskSourceFields(fields: RecordFields): RecordFields {
  const { headers, auth_type, auth_config } = fields
  return {
    ...fields,
    headers: headers && maskHeaders(headers as HeaderMap),
    auth_config: auth_config && maskAuth(auth_type as SourceAuthType, auth_config as AuthConfig),
  }
}

/** A field without its place, which is that in the list. */
export const toFieldEntry = (field: StoredField): SourceFieldEntry =>
  ({ id: field.id, ...omitDefaults(pick(toSnakeKeys(field), ofField), {}) }) as SourceFieldEntry

/** A field is the one of its path and name; else the one of its path. */
export const FIELD_KEYS: MatchKey<SourceFieldEntry, StoredField>[] = [
  {
    ofEntry: ({ path, name_template }) => `${path}\n${name_template}`,
    ofRow: ({ path, nameTemplate }) => `${path}\n${nameTemplate}`,
  },
  { ofEntry: ({ path }) => path, ofRow: ({ path }) => path },
]

/** As the API takes it, with the id of the stored field that it is. */
export const toFieldInput = (entry: SourceFieldEntry, stored: StoredField | null): FieldInput => ({
  ...(pick(entry, ofField) as FieldCreate),
  degraded_rule_config: entry.degraded_rule_config ?? null,
  ...(stored && { id: stored.id }),
})
