import type { MaintenanceStage } from '../../../alerting/events/maintenance-event.ts'
import type { MonitorStatusTime } from '../../../insight/analytics/uptime/status-time.ts'
import type { IncidentStatus, Severity } from '../../../verdict/incidents/lifecycle.ts'
import type { StoredComponent, StoredGroup, StoredPage } from '../../core/records.ts'
import type { DailyMedians } from '../../core/types.ts'

/** An incident that a page may show. `updates`: the public ones, newest first, of incidents that are shown in full. */
export type PageIncident = {
  id: string
  title: string
  status: IncidentStatus
  severity: Severity
  source: 'manual' | 'automatic'
  /** the outage that opened it; null for a manual one */
  outage: { monitorId: string; title: string | null } | null
  startedAt: Date
  resolvedAt: Date | null
  /** in any order; includes monitors that are not on the page */
  monitorIds: string[]
  updates: { id: string; status: IncidentStatus; message: string; at: string }[]
  /** null unless it is published */
  postmortem: { text: string; publishedAt: string } | null
}

/** Running or planned maintenance of monitors of the page. */
export type PageMaintenance = {
  windowId: string
  title: string
  description: string | null
  startsAt: Date
  endsAt: Date
  monitorIds: string[]
}

/** A period for which notices were sent, oldest notice first. `firstStartsAt`: the first beginning that was sent. */
export type PageNoticedMaintenance = PageMaintenance & {
  firstStartsAt: Date
  notices: PageNoticeOfMaintenance[]
}
/** `previous`: of the newest change, the time before it. */
type PageNoticeOfMaintenance = {
  stage: Exclude<MaintenanceStage, 'cancelled'>
  at: string
  previous: { startsAt: string; endsAt: string } | null
}

/** The data of a view. */
export type PageData = {
  page: StoredPage
  groups: StoredGroup[]
  components: StoredComponent[]
  times: MonitorStatusTime[]
  incidents: PageIncident[]
  maintenance: PageMaintenance[]
  noticedMaintenance: PageNoticedMaintenance[]
  /** null: ClickHouse did not answer, or response times are hidden */
  medians: DailyMedians | null
}
