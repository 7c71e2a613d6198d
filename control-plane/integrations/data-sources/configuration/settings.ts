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
  | 'isPaused'

/** The settings of a source in plain text. */
export type SourceSettings = Pick<StoredSource, SettingName> & {
  headers: HeaderMap | null
  authConfig: AuthConfig | null
}

/** Converts a create body to settings, with the defaults. */
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
    isPaused: body.is_paused ?? DATA_SOURCE_DEFAULTS.is_paused,
  }
}

/** Returns the settings after an update. Properties that the body omits keep their values. */
export function applySourceUpdate(before: SourceSettings, body: SourceUpdate): SourceSettings {
  const orElse = <T>(sent: T | undefined, kept: T): T => (sent === undefined ? kept : sent)
  // without a type there are no credentials
  const config = body.auth_type === null ? null : before.authConfig
  return {
    name: orElse(body.name, before.name),
    description: orElse(body.description, before.description),
    url: orElse(body.url, before.url),
    method: orElse(body.method, before.method),
    headers: orElse(body.headers, before.headers),
    body: orElse(body.body, before.body),
    authType: orElse(body.auth_type, before.authType),
    authConfig: orElse(body.auth_config, config),
    rootPath: orElse(body.root_path, before.rootPath),
    fetchIntervalS: orElse(body.fetch_interval_s, before.fetchIntervalS),
    timeoutMs: orElse(body.timeout_ms, before.timeoutMs),
    isPaused: orElse(body.is_paused, before.isPaused),
  }
}

/** The settings of a field. */
export type FieldSettings = Omit<FieldDefinition, 'id'> & { displayOrder: number }

export function toFieldSettings(body: FieldCreate, index: number): FieldSettings {
  return {
    path: body.path,
    nameTemplate: body.name_template,
    ruleType: body.rule_type,
    ruleConfig: body.rule_config,
    degradedRuleConfig: body.degraded_rule_config ?? null,
    displayOrder: body.display_order ?? index,
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
