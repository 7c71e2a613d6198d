import type {
  ComponentStatus,
  ComponentView,
  DisplayStatus,
  GroupView,
  IncidentView,
  MaintenanceView,
  PageView,
  UpdateView,
} from '../../core/types.ts'
import { STATUS_INDICATORS } from '../../templates/labels.ts'
import { findLastChange, findLastIncidentChange } from './changed-at.ts'

/** The files below `api/v2/`, in the format of Statuspage (docs/design/status-pages.md#feeds-badges-and-embeds). */
export const STATUSPAGE_FILES = {
  'summary.json': (view: PageView) => ({
    page: toPage(view),
    status: toStatus(view),
    components: toComponents(view),
    incidents: view.openIncidents.map(incident => toIncident(view, incident)),
    scheduled_maintenances: view.maintenance.map(one => toMaintenance(view, one)),
  }),
  'status.json': (view: PageView) => ({ page: toPage(view), status: toStatus(view) }),
  'components.json': (view: PageView) => ({ page: toPage(view), components: toComponents(view) }),
  'incidents.json': (view: PageView) => ({
    page: toPage(view),
    incidents: [...view.openIncidents, ...view.pastIncidents].map(incident => toIncident(view, incident)),
  }),
}

/** Statuspage has no value for unknown, so it is `operational`. */
const STATUSES: Record<ComponentStatus | 'maintenance', string> = {
  operational: 'operational',
  degraded: 'degraded_performance',
  outage: 'major_outage',
  maintenance: 'under_maintenance',
  unknown: 'operational',
}

const toPage = (view: PageView) => ({
  id: view.id,
  name: view.name,
  url: view.publicUrl,
  time_zone: 'Etc/UTC',
  updated_at: findLastChange(view),
})

/** Statuspage has no indicator for unknown. `picket_stale_since` is null while the status is current. */
const toStatus = ({ overall, staleSince }: PageView) => ({
  indicator: STATUS_INDICATORS[overall.status],
  description: overall.sentence,
  picket_status: overall.status,
  picket_stale_since: staleSince ?? null,
})

type ListPosition = { groupId: string | null; position: number }

/** Groups and components in one list, each group before its components. */
function toComponents(view: PageView) {
  return view.sections.flatMap((section, i) => {
    const position = i + 1
    if (section.kind === 'component') return [toComponent(view, section.component, { groupId: null, position })]
    const { group } = section
    return [
      toGroup(view, group, position),
      ...group.components.map((one, j) => toComponent(view, one, { groupId: group.id, position: j + 1 })),
    ]
  })
}

const toComponent = (view: PageView, component: ComponentView, { groupId, position }: ListPosition) => ({
  ...toRecord(view, component, position),
  status: STATUSES[component.status],
  created_at: component.updatedAt,
  updated_at: component.updatedAt,
  group_id: groupId,
  group: false,
})

function toGroup(view: PageView, group: GroupView, position: number) {
  const updatedAt =
    group.components
      .map(one => one.updatedAt)
      .sort()
      .at(-1) ?? findLastChange(view)
  return {
    ...toRecord(view, group, position),
    status: toGroupStatus(group),
    created_at: updatedAt,
    updated_at: updatedAt,
    group_id: null,
    group: true,
    components: group.components.map(one => one.id),
  }
}

/** A group of which only some components are down is `partial_outage`. */
function toGroupStatus({
  status,
  components,
}: {
  status: DisplayStatus
  components: readonly ComponentView[]
}): string {
  const isPartial = status === 'outage' && components.some(one => one.status !== 'outage')
  return isPartial ? 'partial_outage' : STATUSES[status]
}

const toRecord = (view: PageView, { id, name, description }: ComponentView | GroupView, position: number) => ({
  id,
  name,
  description,
  position,
  page_id: view.id,
  showcase: false,
  start_date: null,
  only_show_if_degraded: false,
})

function toIncident(view: PageView, incident: IncidentView) {
  const { id, title, status, severity, startedAt, resolvedAt, updates, componentIds } = incident
  return {
    id,
    name: title,
    status,
    impact: severity,
    created_at: startedAt,
    started_at: startedAt,
    updated_at: findLastIncidentChange(incident),
    monitoring_at: updates.findLast(update => update.status === 'monitoring')?.at ?? null,
    resolved_at: resolvedAt,
    shortlink: buildIncidentUrl(view, id),
    page_id: view.id,
    incident_updates: updates.map(update => toUpdate(id, update)),
    components: toComponents(view).filter(component => componentIds.includes(component.id)),
  }
}

function toUpdate(incidentId: string, { id, status, message, at }: UpdateView) {
  return {
    id,
    status,
    body: message,
    incident_id: incidentId,
    created_at: at,
    updated_at: at,
    display_at: at,
    affected_components: null,
    deliver_notifications: true,
    custom_tweet: null,
    tweet_id: null,
  }
}

function toMaintenance(
  view: PageView,
  { id, name, description, isRunning, startsAt, endsAt, componentIds }: MaintenanceView,
) {
  const status = isRunning ? 'in_progress' : 'scheduled'
  const update = { id, status, message: description ?? '', at: startsAt }
  return {
    id,
    name,
    status,
    impact: 'maintenance',
    created_at: startsAt,
    started_at: startsAt,
    updated_at: startsAt,
    monitoring_at: null,
    resolved_at: null,
    shortlink: view.publicUrl,
    page_id: view.id,
    incident_updates: description === null ? [] : [{ ...toUpdate(id, { ...update, status: 'identified' }), status }],
    components: toComponents(view).filter(component => componentIds.includes(component.id)),
    scheduled_for: startsAt,
    scheduled_until: endsAt,
  }
}

/** The address of an incident on the page. */
export const buildIncidentUrl = ({ publicUrl }: PageView, incidentId: string): string =>
  `${publicUrl}#incident-${incidentId}`
