import type { IncidentStatus, Severity } from '../../../verdict/incidents/lifecycle.ts'
import type { StoredComponent, StoredGroup, StoredPage } from '../../core/records.ts'
import type { DailyMedians } from '../../core/types.ts'

/**
 * A time in which a monitor was in one status; `status` null: paused, or no verdict yet. Of one day (UTC) all such times
 * may come as one, then `seconds` is their sum.
 */
export type MonitorStatusTime = {
  monitorId: string
  status: 'up' | 'degraded' | 'down' | null
  isMaintenance: boolean
  from: Date
  to: Date
  seconds: number
}

/** An incident that a page may show; `updates` are public ones, newest first, of incidents that are shown in full. */
export type PageIncident = {
  id: string
  title: string
  status: IncidentStatus
  severity: Severity
  source: 'manual' | 'automatic'
  startedAt: Date
  resolvedAt: Date | null
  /** in any order, those that are not on the page too */
  monitorIds: string[]
  updates: { id: string; status: IncidentStatus; message: string; at: string }[]
}

/** A maintenance that runs or comes, for some monitors of the page. */
export type PageMaintenance = {
  windowId: string
  title: string
  description: string | null
  startsAt: Date
  endsAt: Date
  monitorIds: string[]
}

/** What a view is made of. */
export type PageData = {
  page: StoredPage
  groups: StoredGroup[]
  components: StoredComponent[]
  times: MonitorStatusTime[]
  incidents: PageIncident[]
  maintenance: PageMaintenance[]
  /** null: ClickHouse did not answer, or nothing of it is to be shown */
  medians: DailyMedians | null
}
