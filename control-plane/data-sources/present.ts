import { groupBy } from '../../shared/group-by.ts'
import type { Secrets } from '../platform/secrets.ts'
import { maskHeaders } from '../web/header-map.ts'
import { maskAuth } from './credentials.ts'
import { MOST_CHILDREN } from './evaluate.ts'
import { openSource } from './sealed.ts'
import type { ChildMonitor, StoredField, StoredSource } from './types.ts'

/** A source as the API answers it (specification, "Data source"; decisions 1.7 and 9.1). */
export function presentSource(source: StoredSource, fields: StoredField[], children: ChildMonitor[], secrets: Secrets) {
  const { headers, authConfig } = openSource(source, secrets)
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
    fields: presentFields(fields, children),
    field_count: fields.length,
    child_monitor_count: children.length,
    last_fetched_at: textOf(source.lastFetchedAt),
    last_success_at: textOf(source.lastSuccessAt),
    last_error: source.lastError,
    ...truncation(source),
    consecutive_failures: source.failures,
    next_fetch_at: source.nextFetchAt.toISOString(),
    created_at: source.createdAt.toISOString(),
    updated_at: source.updatedAt.toISOString(),
  }
}

/** Fields of one source, each with its monitors. */
export function presentFields(fields: StoredField[], children: ChildMonitor[]) {
  const childrenOf = groupBy(children, ({ fieldId }) => fieldId)
  return fields.map(field => presentField(field, childrenOf.get(field.id) ?? []))
}

export const presentField = (field: StoredField, children: ChildMonitor[]) => ({
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

function truncation({ documentKeys: keys }: StoredSource) {
  if (keys === null) return { truncated: null, problem: null }
  const problem = `the document has ${keys} keys for monitors; only the first ${MOST_CHILDREN}, in the order of fields and keys, have one`
  return { truncated: { keys, monitors: MOST_CHILDREN }, problem }
}

const textOf = (time: Date | null): string | null => time?.toISOString() ?? null
