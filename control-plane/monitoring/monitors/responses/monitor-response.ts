import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { type ApiCaller, hasScope } from '../../../foundation/web/auth/authentication.ts'
import { MASK, maskHeaders } from '../../../foundation/web/masked-secrets/header-map.ts'
import {
  type LiveCheckTypes,
  listConfigurationIssues,
  listProbeIssues,
  listSourceIssues,
  listUncheckedIssues,
} from '../settings/configuration-issues.ts'
import { maskAuth } from '../settings/credentials.ts'
import { decryptAuth, decryptHeaders, decryptPingToken } from '../settings/encryption.ts'
import type { DataSourceOrigin, StoredMonitor } from '../types.ts'

/** When monitors were last checked, by id. A missing monitor was never checked, or the time is unknown now. */
export type LastCheckedAt = ReadonlyMap<string, Date>

/** What is known of the monitoring of some monitors. `liveTypes` null: unknown. `uncheckedSince`: monitors that lost their status. */
export type MonitoringState = {
  lastCheckedAt: LastCheckedAt
  liveTypes: LiveCheckTypes | null
  uncheckedSince?: ReadonlyMap<string, Date>
}

/**
 * Reads the monitoring state of some monitors of a project. `lastCheckedAt` is empty while ClickHouse is unreachable, and with
 * `withoutLastCheck`.
 */
export type MonitoringStateReader = (
  projectId: string,
  monitors: readonly (Pick<StoredMonitor, 'id' | 'type'> & Partial<Pick<StoredMonitor, 'status' | 'dataSource'>>)[],
  options?: { withoutLastCheck?: boolean },
) => Promise<MonitoringState>

export type MonitorResponseTools = { secrets: SecretCipher; publicUrl: string }

/** Builds the API's representation of a monitor, with secrets masked (docs/design/monitors.md#fields). */
export function toMonitorResponse(
  monitor: StoredMonitor,
  { secrets, publicUrl }: MonitorResponseTools,
  state: MonitoringState,
  caller: Pick<ApiCaller, 'scope'>,
) {
  const headers = decryptHeaders(monitor, secrets)
  const auth = decryptAuth(monitor, secrets)
  return {
    id: monitor.id,
    name: monitor.name,
    type: monitor.type,
    url: monitor.url,
    method: monitor.method,
    headers: headers && maskHeaders(headers),
    body: monitor.body,
    interval_seconds: monitor.intervalSeconds,
    timeout_ms: monitor.timeoutMs,
    regions: monitor.regions,
    assertions: monitor.assertions,
    auth_type: monitor.authType,
    auth_config: auth && maskAuth(auth.type, auth.config),
    keyword: monitor.keyword,
    keyword_type: monitor.keywordType,
    heartbeat_interval: monitor.heartbeatInterval,
    heartbeat_grace: monitor.heartbeatGrace,
    ssl_check: monitor.sslCheck,
    domain_check: monitor.domainCheck,
    screenshot_on_failure: monitor.screenshotOnFailure,
    screenshot_compare: monitor.screenshotCompare,
    screenshot_threshold: monitor.screenshotThreshold,
    retry_count: monitor.retryCount,
    witness: monitor.witness,
    witness_with_credentials: monitor.witnessWithCredentials,
    tags: monitor.tags,
    status: monitor.status,
    status_changed_at: toIsoString(monitor.statusChangedAt),
    last_checked_at: toIsoString(state.lastCheckedAt.get(monitor.id) ?? null),
    is_paused: monitor.isPaused,
    ping_url: buildPingUrl(monitor, { secrets, publicUrl }, caller),
    ssl_expires_at: toIsoString(monitor.sslExpiresAt),
    domain_expires_at: toIsoString(monitor.domainExpiresAt),
    data_source: monitor.dataSource && toDataSourceResponse(monitor.dataSource),
    configuration_issues: listAllIssues(monitor, state),
    created_at: monitor.createdAt.toISOString(),
    updated_at: monitor.updatedAt.toISOString(),
  }
}

type IssueFields = Parameters<typeof listProbeIssues>[0] & Pick<StoredMonitor, 'id' | 'status'>

/** Lists why a monitor is not checked: its own settings, its regions without a probe, its data source, and that no check counted. */
export function listAllIssues(
  monitor: IssueFields,
  { liveTypes, uncheckedSince }: Pick<MonitoringState, 'liveTypes' | 'uncheckedSince'>,
): string[] {
  return [
    ...listConfigurationIssues(monitor),
    ...listProbeIssues(monitor, liveTypes),
    ...listSourceIssues(monitor),
    ...listUncheckedIssues(monitor, uncheckedSince?.get(monitor.id)),
  ]
}

/** The ping URL allows writing to the monitor, so it is masked for read keys. */
function buildPingUrl(
  monitor: StoredMonitor,
  { secrets, publicUrl }: MonitorResponseTools,
  caller: Pick<ApiCaller, 'scope'>,
): string | null {
  const token = monitor.type === 'heartbeat' ? decryptPingToken(monitor, secrets) : null
  return token === null ? null : `${publicUrl}/ping/${hasScope(caller, 'write') ? token : MASK}`
}

const toDataSourceResponse = ({ id, name, fieldId, key }: DataSourceOrigin) => ({ id, name, field_id: fieldId, key })

const toIsoString = (time: Date | null): string | null => time?.toISOString() ?? null
