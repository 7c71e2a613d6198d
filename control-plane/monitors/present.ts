import type { Secrets } from '../platform/secrets.ts'
import { type Caller, isAllowed } from '../web/auth.ts'
import { MASK, maskHeaders } from '../web/header-map.ts'
import { configurationIssues, type LiveTypes, probeIssues, uncheckedIssues } from './configuration.ts'
import { maskAuth } from './credentials.ts'
import { openAuth, openHeaders, openPingToken } from './sealed.ts'
import type { Origin, StoredMonitor } from './types.ts'

/** When monitors were last checked, by id; one that is missing was never checked, or nobody can tell now. */
export type LastCheckedAt = ReadonlyMap<string, Date>

/** How monitors are watched now. `liveTypes` null: not known. `uncheckedSince`: monitors without a status for that reason. */
export type Watching = {
  lastCheckedAt: LastCheckedAt
  liveTypes: LiveTypes | null
  uncheckedSince?: ReadonlyMap<string, Date>
}

/** Asks how some monitors of a project are watched; `lastCheckedAt` is empty while the history is away. */
export type ReadWatching = (
  projectId: string,
  monitors: readonly (Pick<StoredMonitor, 'id' | 'type'> & Partial<Pick<StoredMonitor, 'status'>>)[],
) => Promise<Watching>

export type PresentTools = { secrets: Secrets; publicUrl: string }

/** A monitor as the API answers it to a caller (specification, "Monitor"; decisions 1.1, 1.7 and 3.1). */
export function presentMonitor(
  monitor: StoredMonitor,
  { secrets, publicUrl }: PresentTools,
  { lastCheckedAt, liveTypes, uncheckedSince }: Watching,
  caller: Pick<Caller, 'scope'>,
) {
  const headers = openHeaders(monitor, secrets)
  const auth = openAuth(monitor, secrets)
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
    status_changed_at: textOf(monitor.statusChangedAt),
    last_checked_at: textOf(lastCheckedAt.get(monitor.id) ?? null),
    is_paused: monitor.isPaused,
    ping_url: pingUrlOf(monitor, { secrets, publicUrl }, caller),
    ssl_expires_at: textOf(monitor.sslExpiresAt),
    domain_expires_at: textOf(monitor.domainExpiresAt),
    data_source: monitor.dataSource && presentOrigin(monitor.dataSource),
    configuration_issues: [
      ...configurationIssues(monitor),
      ...probeIssues(monitor, liveTypes),
      ...uncheckedIssues(monitor, uncheckedSince?.get(monitor.id)),
    ],
    created_at: monitor.createdAt.toISOString(),
    updated_at: monitor.updatedAt.toISOString(),
  }
}

/** Who knows it writes to the monitor, so those who may only read get it masked. */
function pingUrlOf(
  monitor: StoredMonitor,
  { secrets, publicUrl }: PresentTools,
  caller: Pick<Caller, 'scope'>,
): string | null {
  const token = monitor.type === 'heartbeat' ? openPingToken(monitor, secrets) : null
  return token === null ? null : `${publicUrl}/ping/${isAllowed(caller, 'write') ? token : MASK}`
}

const presentOrigin = ({ id, name, fieldId, key }: Origin) => ({ id, name, field_id: fieldId, key })

const textOf = (time: Date | null): string | null => time?.toISOString() ?? null
