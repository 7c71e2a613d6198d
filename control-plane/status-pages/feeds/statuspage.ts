import type {
  ComponentStatus,
  ComponentView,
  GroupView,
  IncidentView,
  MaintenanceView,
  OverallStatus,
  PageView,
  ShownStatus,
  UpdateView,
} from '../types.ts'
import { changedAt, incidentChangedAt } from './changed-at.ts'

/** The files below `api/v2/` that programs know from Statuspage. */
export const STATUSPAGE_FILES = {
  'summary.json': (view: PageView) => ({
    page: pageOf(view),
    status: statusOf(view),
    components: componentsOf(view),
    incidents: view.openIncidents.map(incident => incidentOf(view, incident)),
    scheduled_maintenances: view.maintenance.map(one => maintenanceOf(view, one)),
  }),
  'status.json': (view: PageView) => ({ page: pageOf(view), status: statusOf(view) }),
  'components.json': (view: PageView) => ({ page: pageOf(view), components: componentsOf(view) }),
  'incidents.json': (view: PageView) => ({
    page: pageOf(view),
    incidents: [...view.openIncidents, ...view.pastIncidents].map(incident => incidentOf(view, incident)),
  }),
}

const INDICATORS: Record<OverallStatus, string> = {
  operational: 'none',
  degraded: 'minor',
  partial_outage: 'major',
  outage: 'critical',
  maintenance: 'maintenance',
  unknown: 'none',
}

/** Statuspage has no word for what is not known: nothing is known to be wrong. */
const STATUSES: Record<ComponentStatus | 'maintenance', string> = {
  operational: 'operational',
  degraded: 'degraded_performance',
  outage: 'major_outage',
  maintenance: 'under_maintenance',
  unknown: 'operational',
}

const pageOf = (view: PageView) => ({
  id: view.id,
  name: view.name,
  url: view.publicUrl,
  time_zone: 'Etc/UTC',
  updated_at: changedAt(view),
})

const statusOf = ({ overall }: PageView) => ({
  indicator: INDICATORS[overall.status],
  description: overall.sentence,
})

type Place = { groupId: string | null; position: number }

/** Groups and components in one list, each group before what is in it. */
function componentsOf(view: PageView) {
  return view.sections.flatMap((section, i) => {
    const position = i + 1
    if (section.kind === 'component') return [componentOf(view, section.component, { groupId: null, position })]
    const { group } = section
    return [
      groupOf(view, group, position),
      ...group.components.map((one, j) => componentOf(view, one, { groupId: group.id, position: j + 1 })),
    ]
  })
}

const componentOf = (view: PageView, component: ComponentView, { groupId, position }: Place) => ({
  ...recordOf(view, component, position),
  status: STATUSES[component.status],
  created_at: component.updatedAt,
  updated_at: component.updatedAt,
  group_id: groupId,
  group: false,
})

function groupOf(view: PageView, group: GroupView, position: number) {
  const updatedAt =
    group.components
      .map(one => one.updatedAt)
      .sort()
      .at(-1) ?? changedAt(view)
  return {
    ...recordOf(view, group, position),
    status: statusOfGroup(group),
    created_at: updatedAt,
    updated_at: updatedAt,
    group_id: null,
    group: true,
    components: group.components.map(one => one.id),
  }
}

/** Where only some of a group are out, Statuspage says so. */
function statusOfGroup({ status, components }: { status: ShownStatus; components: readonly ComponentView[] }): string {
  const isPartial = status === 'outage' && components.some(one => one.status !== 'outage')
  return isPartial ? 'partial_outage' : STATUSES[status]
}

const recordOf = (view: PageView, { id, name, description }: ComponentView | GroupView, position: number) => ({
  id,
  name,
  description,
  position,
  page_id: view.id,
  showcase: false,
  start_date: null,
  only_show_if_degraded: false,
})

function incidentOf(view: PageView, incident: IncidentView) {
  const { id, title, status, severity, startedAt, resolvedAt, updates, componentIds } = incident
  return {
    id,
    name: title,
    status,
    impact: severity,
    created_at: startedAt,
    started_at: startedAt,
    updated_at: incidentChangedAt(incident),
    monitoring_at: updates.findLast(update => update.status === 'monitoring')?.at ?? null,
    resolved_at: resolvedAt,
    shortlink: linkOf(view, id),
    page_id: view.id,
    incident_updates: updates.map(update => updateOf(id, update)),
    components: componentsOf(view).filter(component => componentIds.includes(component.id)),
  }
}

function updateOf(incidentId: string, { id, status, message, at }: UpdateView) {
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

function maintenanceOf(
  view: PageView,
  { id, name, description, isRunning, startsAt, endsAt, componentNames }: MaintenanceView,
) {
  const status = isRunning ? 'in_progress' : 'scheduled'
  const told = { id, status, message: description ?? '', at: startsAt }
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
    incident_updates: description === null ? [] : [{ ...updateOf(id, { ...told, status: 'identified' }), status }],
    components: componentsOf(view).filter(component => !component.group && componentNames.includes(component.name)),
    scheduled_for: startsAt,
    scheduled_until: endsAt,
  }
}

/** Where an incident stands on the page. */
export const linkOf = ({ publicUrl }: PageView, incidentId: string): string => `${publicUrl}#incident-${incidentId}`
