import type { MonitorStatus } from '../../monitoring/monitors/types.ts'

export const METHODS = ['GET', 'POST'] as const
export const AUTH_TYPES = ['basic', 'bearer', 'api_key'] as const
export type SourceAuthType = (typeof AUTH_TYPES)[number]

export const RULE_TYPES = ['equals', 'in', 'diff_lte', 'truthy', 'http_ok'] as const
export type RuleType = (typeof RULE_TYPES)[number]

/** A row of `data_sources`. `headers` and `authConfig` are encrypted (configuration/encryption.ts). */
export type StoredSource = {
  id: string
  projectId: string
  name: string
  description: string | null
  url: string
  method: (typeof METHODS)[number]
  headers: Buffer | null
  body: string | null
  authType: SourceAuthType | null
  authConfig: Buffer | null
  /** the root of all paths; null: the whole document */
  rootPath: string | null
  fetchIntervalS: number
  timeoutMs: number
  /** the document is not fetched */
  isPaused: boolean
  /** increments when the request or the fields change; results of earlier revisions are discarded */
  revision: number
  nextFetchAt: Date
  lastFetchedAt: Date | null
  lastSuccessAt: Date | null
  /** null after a successful fetch */
  lastError: string | null
  /** consecutive failures */
  failures: number
  /** number of keys in the last document, when some of them have no monitor; else null */
  documentKeys: number | null
  /** the open incident of the source while it cannot be fetched */
  incidentId: string | null
  createdAt: Date
  updatedAt: Date
}

/** Defines monitors of a document: the path of their values, the template of their names, and the rule. */
export type FieldDefinition = {
  id: string
  path: string
  nameTemplate: string
  ruleType: RuleType
  ruleConfig: Record<string, unknown>
  /** configuration of the same rule for degraded; null: a value that is not up is down */
  degradedRuleConfig: Record<string, unknown> | null
}

/** A row of `data_source_fields`. */
export type StoredField = FieldDefinition & {
  dataSourceId: string
  /** ascending; equal values by age */
  displayOrder: number
  createdAt: Date
  updatedAt: Date
}

/** A monitor of a field that is not archived. */
export type ChildMonitor = {
  dataSourceId: string
  fieldId: string
  monitorId: string
  key: string
  name: string
  /** null: unknown, or paused */
  status: MonitorStatus | null
}
