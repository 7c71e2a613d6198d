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

/** Returns the body of a create from an entry, without its fields. */
export const toSourceBody = (entry: SourceEntry) => pick(entry, ofItself) as SourceCreate

/** Returns a source with the names of the file and secrets in plain text. */
export const toStoredSourceFields = (source: StoredSource, secrets: SecretCipher): RecordFields =>
  toSourceFields({ ...source, ...decryptSource(source, secrets) })

const toSourceFields = (source: SourceSettings): RecordFields => pick(toSnakeKeys(source), ofItself)

/** Like a monitor, a stored source that an entry says nothing about stays paused. */
export const isPausedAfter = (entry: SourceEntry, stored: StoredSource): boolean => entry.is_paused ?? stored.isPaused

/** Returns the fields of a source after an import. Throws 400 for masks without a stored secret. */
export function mergeSourceFields(entry: SourceEntry, stored: StoredSource, secrets: SecretCipher): RecordFields {
  const before = { ...stored, ...decryptSource(stored, secrets) }
  const { source, problems } = unmaskSource(
    toSourceSettings({ ...toSourceBody(entry), is_paused: isPausedAfter(entry, stored) }),
    before,
  )
  if (problems.length > 0) throw validationError(problems)
  return toSourceFields(source)
}

export const toNewSourceFields = (entry: SourceEntry): RecordFields =>
  toSourceFields(toSourceSettings(toSourceBody(entry)))

/** Masks secrets. */
export function maskSourceFields(fields: RecordFields): RecordFields {
  const { headers, auth_type, auth_config } = fields
  return {
    ...fields,
    headers: headers && maskHeaders(headers as HeaderMap),
    auth_config: auth_config && maskAuth(auth_type as SourceAuthType, auth_config as AuthConfig),
  }
}

/** Returns a field without its order, which is the order of the list. */
export const toFieldEntry = (field: StoredField): SourceFieldEntry =>
  ({ id: field.id, ...omitDefaults(pick(toSnakeKeys(field), ofField), {}) }) as SourceFieldEntry

/** Fields match by path and name template, then by path. */
export const FIELD_KEYS: MatchKey<SourceFieldEntry, StoredField>[] = [
  {
    ofEntry: ({ path, name_template }) => `${path}\n${name_template}`,
    ofRow: ({ path, nameTemplate }) => `${path}\n${nameTemplate}`,
  },
  { ofEntry: ({ path }) => path, ofRow: ({ path }) => path },
]

/** Returns a field for the API, with the id of the matching stored field. */
export const toFieldInput = (entry: SourceFieldEntry, stored: StoredField | null): FieldInput => ({
  ...(pick(entry, ofField) as FieldCreate),
  degraded_rule_config: entry.degraded_rule_config ?? null,
  ...(stored && { id: stored.id }),
})
