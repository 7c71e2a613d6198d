import type { AuthConfig } from '../../../foundation/web/masked-secrets/credentials.ts'
import type { HeaderMap } from '../../../foundation/web/masked-secrets/header-map.ts'
import {
  DATA_SOURCE_DEFAULTS,
  type FieldCreate,
  type FieldUpdate,
  type SourceCreate,
  type SourceUpdate,
} from '../api/request-schema.ts'
import type { FieldDefinition, StoredField, StoredSource } from '../types.ts'

type SettingName =
  | 'name'
  | 'description'
  | 'url'
  | 'method'
  | 'body'
  | 'authType'
  | 'rootPath'
  | 'fetchIntervalS'
  | 'timeoutMs'

/** What a user configures of a source, in plain text. */
export type SourceSettings = Pick<StoredSource, SettingName> & {
  headers: HeaderMap | null
  authConfig: AuthConfig | null
}

/** A create body with the defaults. */
export function toSourceSettings(body: SourceCreate): SourceSettings {
  return {
    name: body.name,
    description: body.description ?? null,
    url: body.url,
    method: body.method ?? DATA_SOURCE_DEFAULTS.method,
    headers: body.headers ?? null,
    body: body.body ?? null,
    authType: body.auth_type ?? null,
    authConfig: body.auth_config ?? null,
    rootPath: body.root_path ?? null,
    fetchIntervalS: body.fetch_interval_s ?? DATA_SOURCE_DEFAULTS.fetch_interval_s,
    timeoutMs: body.timeout_ms ?? DATA_SOURCE_DEFAULTS.timeout_ms,
  }
}

/** The source after an update: what the body names is replaced, everything else stays. */
export function applySourceUpdate(before: SourceSettings, body: SourceUpdate): SourceSettings {
  const named = <T>(sent: T | undefined, kept: T): T => (sent === undefined ? kept : sent)
  // without a type there is nothing that a config could be of
  const config = body.auth_type === null ? null : before.authConfig
  return {
    name: named(body.name, before.name),
    description: named(body.description, before.description),
    url: named(body.url, before.url),
    method: named(body.method, before.method),
    headers: named(body.headers, before.headers),
    body: named(body.body, before.body),
    authType: named(body.auth_type, before.authType),
    authConfig: named(body.auth_config, config),
    rootPath: named(body.root_path, before.rootPath),
    fetchIntervalS: named(body.fetch_interval_s, before.fetchIntervalS),
    timeoutMs: named(body.timeout_ms, before.timeoutMs),
  }
}

/** What a user configures of a field. */
export type FieldSettings = Omit<FieldDefinition, 'id'> & { displayOrder: number }

export function toFieldSettings(body: FieldCreate, place: number): FieldSettings {
  return {
    path: body.path,
    nameTemplate: body.name_template,
    ruleType: body.rule_type,
    ruleConfig: body.rule_config,
    degradedRuleConfig: body.degraded_rule_config ?? null,
    displayOrder: body.display_order ?? place,
  }
}

export function applyFieldUpdate(before: StoredField, body: FieldUpdate): StoredField {
  const { degraded_rule_config: degraded } = body
  return {
    ...before,
    path: body.path ?? before.path,
    nameTemplate: body.name_template ?? before.nameTemplate,
    ruleType: body.rule_type ?? before.ruleType,
    ruleConfig: body.rule_config ?? before.ruleConfig,
    degradedRuleConfig: degraded === undefined ? before.degradedRuleConfig : degraded,
    displayOrder: body.display_order ?? before.displayOrder,
  }
}
