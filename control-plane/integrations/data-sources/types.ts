import type { MonitorStatus } from '../../monitoring/monitors/types.ts'

export const METHODS = ['GET', 'POST'] as const
export const AUTH_TYPES = ['basic', 'bearer', 'api_key'] as const
export type SourceAuthType = (typeof AUTH_TYPES)[number]

export const RULE_TYPES = ['equals', 'in', 'diff_lte', 'truthy', 'http_ok'] as const
export type RuleType = (typeof RULE_TYPES)[number]

/** A row of `data_sources`. `headers` and `authConfig` are sealed (see sealed.ts); times are Dates. */
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
  /** below it every path begins; null: the whole document */
  rootPath: string | null
  fetchIntervalS: number
  timeoutMs: number
  /** moves with whatever changes what is asked or how the answer is judged: what was fetched before that is void */
  revision: number
  nextFetchAt: Date
  lastFetchedAt: Date | null
  lastSuccessAt: Date | null
  /** a sentence; null after a success */
  lastError: string | null
  /** in a row */
  failures: number
  /** of the last document, where not all of its keys could become monitors; null: they could */
  documentKeys: number | null
  /** the source's own, while it cannot be fetched */
  incidentId: string | null
  createdAt: Date
  updatedAt: Date
}

/** What makes monitors of a document: where their values are, how they are called and when they are up. */
export type FieldDefinition = {
  id: string
  path: string
  nameTemplate: string
  ruleType: RuleType
  ruleConfig: Record<string, unknown>
  /** of the same rule; null: what is not up is down */
  degradedRuleConfig: Record<string, unknown> | null
}

/** A row of `data_source_fields`. */
export type StoredField = FieldDefinition & {
  dataSourceId: string
  /** ascending, then by age */
  displayOrder: number
  createdAt: Date
  updatedAt: Date
}

/** A living monitor that a field made. */
export type ChildMonitor = {
  dataSourceId: string
  fieldId: string
  monitorId: string
  key: string
  name: string
  /** null: unknown, or paused */
  status: MonitorStatus | null
}
