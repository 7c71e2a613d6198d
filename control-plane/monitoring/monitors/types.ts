import type { Assertion, HTTP_METHODS, KEYWORD_TYPES, MonitorType, Region } from '../../../shared/checks/check.ts'

export const MONITOR_STATUSES = ['up', 'down', 'degraded'] as const
export type MonitorStatus = (typeof MONITOR_STATUSES)[number]

/** Where the pings of a heartbeat monitor come from, in place of a region. */
export const HEARTBEAT_REGION = 'heartbeat'

export const MONITOR_AUTH_TYPES = ['basic', 'bearer', 'header'] as const
export type MonitorAuthType = (typeof MONITOR_AUTH_TYPES)[number]

/** Where the values of a data source's monitor come from, in place of a region. */
export const DATA_SOURCE_REGION = 'data-source'

/** Which value of a data source a monitor is. */
export type DataSourceOrigin = { id: string; name: string; fieldId: string | null; key: string }

/** A row of `monitors`. `headers`, `authConfig` and `pingToken` are sealed (see sealed.ts); times are Dates. */
export type StoredMonitor = {
  id: string
  projectId: string
  partition: number
  /** moves when what is checked or how it is judged changes; name and tags leave it */
  configVersion: number
  /** moves when a probe has to hear of a change; ordered over all monitors (set by the database) */
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
  /** sealed; null when it never was a heartbeat monitor */
  pingToken: Buffer | null
  /** SHA-256 of the token */
  pingTokenHash: Buffer | null
  sslCheck: boolean
  domainCheck: boolean
  screenshotOnFailure: boolean
  screenshotCompare: boolean
  screenshotThreshold: number
  retryCount: number
  /** a probe of another region may confirm doubted failures */
  witness: boolean
  witnessWithCredentials: boolean
  tags: string[] | null
  /** null before the first verdict */
  status: MonitorStatus | null
  statusChangedAt: Date | null
  isPaused: boolean
  sslExpiresAt: Date | null
  domainExpiresAt: Date | null
  /** null: a monitor that probes check, or that pings */
  dataSource: DataSourceOrigin | null
  deletedAt: Date | null
  createdAt: Date
  updatedAt: Date
}
