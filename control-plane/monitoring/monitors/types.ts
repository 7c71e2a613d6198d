import type { Assertion, HTTP_METHODS, KEYWORD_TYPES, MonitorType, Region } from '../../../shared/checks/check.ts'

export const MONITOR_STATUSES = ['up', 'down', 'degraded'] as const
export type MonitorStatus = (typeof MONITOR_STATUSES)[number]

/** The value of a region for heartbeat monitors. */
export const HEARTBEAT_REGION = 'heartbeat'

export const MONITOR_AUTH_TYPES = ['basic', 'bearer', 'header'] as const
export type MonitorAuthType = (typeof MONITOR_AUTH_TYPES)[number]

/** The value of a region for monitors of data sources. */
export const DATA_SOURCE_REGION = 'data-source'

/** The value of a data source that a monitor represents. */
export type DataSourceOrigin = { id: string; name: string; isPaused?: boolean; fieldId: string | null; key: string }

/** A row of `monitors`. `headers`, `authConfig` and `pingToken` are encrypted (settings/encryption.ts). Times are Dates. */
export type StoredMonitor = {
  id: string
  projectId: string
  partition: number
  /** increases when the check or its evaluation changes (docs/design/monitors.md#changes) */
  configVersion: number
  /** set by the database, ordered over all monitors; changes when probes must be notified (docs/design/assignments.md#revisions) */
  revision: number
  name: string
  type: MonitorType
  url: string | null
  method: (typeof HTTP_METHODS)[number]
  headers: Buffer | null
  body: string | null
  intervalSeconds: number
  timeoutMs: number
  regions: Region[]
  assertions: Assertion[] | null
  authType: MonitorAuthType | null
  authConfig: Buffer | null
  keyword: string | null
  keywordType: (typeof KEYWORD_TYPES)[number]
  /** seconds */
  heartbeatInterval: number | null
  /** seconds */
  heartbeatGrace: number | null
  /** encrypted; null when the monitor was never a heartbeat */
  pingToken: Buffer | null
  /** SHA-256 of the token */
  pingTokenHash: Buffer | null
  sslCheck: boolean
  domainCheck: boolean
  screenshotOnFailure: boolean
  screenshotCompare: boolean
  screenshotThreshold: number
  retryCount: number
  /** a probe of another region may confirm failures in doubt */
  witness: boolean
  witnessWithCredentials: boolean
  tags: string[] | null
  /** null before the first verdict */
  status: MonitorStatus | null
  statusChangedAt: Date | null
  isPaused: boolean
  sslExpiresAt: Date | null
  domainExpiresAt: Date | null
  /** null: probes check the monitor, or it receives pings */
  dataSource: DataSourceOrigin | null
  deletedAt: Date | null
  createdAt: Date
  updatedAt: Date
}
