import { groupBy } from '../../../../shared/group-by.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { maskHeaders } from '../../../foundation/web/masked-secrets/header-map.ts'
import { maskAuth } from '../configuration/credentials.ts'
import { decryptSource } from '../configuration/encryption.ts'
import { MAX_CHILDREN } from '../evaluation/evaluate.ts'
import type { ChildMonitor, StoredField, StoredSource } from '../types.ts'

/** Returns a source in the form of the API, with masked secrets. */
export function toSourceResponse(
  source: StoredSource,
  fields: StoredField[],
  children: ChildMonitor[],
  secrets: SecretCipher,
) {
  const { headers, authConfig } = decryptSource(source, secrets)
  return {
    id: source.id,
    name: source.name,
    description: source.description,
    url: source.url,
    method: source.method,
    headers: headers && maskHeaders(headers),
    body: source.body,
    auth_type: source.authType,
    auth_config: source.authType && authConfig && maskAuth(source.authType, authConfig),
    root_path: source.rootPath,
    fetch_interval_s: source.fetchIntervalS,
    timeout_ms: source.timeoutMs,
    is_paused: source.isPaused,
    fields: toFieldResponses(fields, children),
    field_count: fields.length,
    child_monitor_count: children.length,
    last_fetched_at: formatTime(source.lastFetchedAt),
    last_success_at: formatTime(source.lastSuccessAt),
    last_error: source.lastError,
    ...describeTruncation(source),
    consecutive_failures: source.failures,
    next_fetch_at: source.isPaused ? null : source.nextFetchAt.toISOString(),
    created_at: source.createdAt.toISOString(),
    updated_at: source.updatedAt.toISOString(),
  }
}

/** Returns the fields of one source, each with its monitors. */
export function toFieldResponses(fields: StoredField[], children: ChildMonitor[]) {
  const childrenByField = groupBy(children, ({ fieldId }) => fieldId)
  return fields.map(field => toFieldResponse(field, childrenByField.get(field.id) ?? []))
}

export const toFieldResponse = (field: StoredField, children: ChildMonitor[]) => ({
  id: field.id,
  path: field.path,
  name_template: field.nameTemplate,
  rule_type: field.ruleType,
  rule_config: field.ruleConfig,
  degraded_rule_config: field.degradedRuleConfig,
  display_order: field.displayOrder,
  child_monitors: children.map(({ monitorId, key, name, status }) => ({ monitor_id: monitorId, key, name, status })),
  created_at: field.createdAt.toISOString(),
  updated_at: field.updatedAt.toISOString(),
})

function describeTruncation({ documentKeys: keys }: StoredSource) {
  if (keys === null) return { truncated: null, problem: null }
  const problem = `the document has ${keys} keys; only ${MAX_CHILDREN} have a monitor: those that had one, and then the first in the order of fields and keys`
  return { truncated: { keys, monitors: MAX_CHILDREN }, problem }
}

const formatTime = (time: Date | null): string | null => time?.toISOString() ?? null
