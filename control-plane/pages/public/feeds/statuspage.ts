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
  'summary.json': (view: PageView) => {
    const scope = toScope(view)
    return {
      page: toPage(scope),
      status: toStatus(view),
      components: scope.components,
      incidents: view.openIncidents.map(incident => toIncident(scope, incident)),
      scheduled_maintenances: view.maintenance.map(one => toMaintenance(scope, one)),
    }
  },
  'status.json': (view: PageView) => ({ page: toPage(toScope(view)), status: toStatus(view) }),
  'components.json': (view: PageView) => {
    const scope = toScope(view)
    return { page: toPage(scope), components: scope.components }
  },
  'incidents.json': (view: PageView) => {
    const scope = toScope(view)
    const incidents = [...view.openIncidents, ...view.pastIncidents]
    return { page: toPage(scope), incidents: incidents.map(incident => toIncident(scope, incident)) }
  },
}

/** What all parts of a file need, computed once: both walk the whole page. */
type Scope = { view: PageView; changedAt: string; components: ReturnType<typeof toComponents> }

function toScope(view: PageView): Scope {
  const changedAt = findLastChange(view)
  return { view, changedAt, components: toComponents(view, changedAt) }
}

/** Statuspage has no value for unknown, so it is `operational`. */
const STATUSES: Record<ComponentStatus | 'maintenance', string> = {
  operational: 'operational',
  degraded: 'degraded_performance',
  outage: 'major_outage',
  maintenance: 'under_maintenance',
  unknown: 'operational',
}

/** `picket_stale_since`: in each file, null while it is current. */
const toPage = ({ view, changedAt }: Scope) => ({
  id: view.id,
  name: view.name,
  url: view.publicUrl,
  time_zone: 'Etc/UTC',
  updated_at: changedAt,
  picket_stale_since: view.staleSince ?? null,
})

/** Statuspage has no indicator for unknown. `picket_stale_since` is the same as that of the page. */
const toStatus = ({ overall, staleSince }: PageView) => ({
  indicator: STATUS_INDICATORS[overall.status],
  description: overall.sentence,
  picket_status: overall.status,
  picket_stale_since: staleSince ?? null,
})

type ListPosition = { groupId: string | null; position: number }

/** Groups and components in one list, each group before its components. `changedAt`: the last change of the page. */
function toComponents(view: PageView, changedAt: string) {
  return view.sections.flatMap((section, i) => {
    const position = i + 1
    if (section.kind === 'component') return [toComponent(view, section.component, { groupId: null, position })]
    const { group } = section
    return [
      toGroup(view, group, { position, changedAt }),
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

function toGroup(view: PageView, group: GroupView, { position, changedAt }: { position: number; changedAt: string }) {
  const updatedAt =
    group.components
      .map(one => one.updatedAt)
      .sort()
      .at(-1) ?? changedAt
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

/** `picket_component_count`: how many are affected; `components` can have fewer (view/affected.ts). */
function toAffected({ components }: Scope, { componentIds, componentCount }: IncidentView | MaintenanceView) {
  const wanted = new Set(componentIds)
  return {
    components: components.filter(({ id }) => wanted.has(id)),
    picket_component_count: componentCount ?? componentIds.length,
  }
}

function toIncident(scope: Scope, incident: IncidentView) {
  const { view } = scope
  const { id, title, status, severity, startedAt, resolvedAt, updates } = incident
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
    ...toAffected(scope, incident),
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

function toMaintenance(scope: Scope, one: MaintenanceView) {
  const { view } = scope
  const { id, name, description, isRunning, startsAt, endsAt } = one
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
    ...toAffected(scope, one),
    scheduled_for: startsAt,
    scheduled_until: endsAt,
  }
}

/** The address of an incident on the page. */
export const buildIncidentUrl = ({ publicUrl }: PageView, incidentId: string): string =>
  `${publicUrl}#incident-${incidentId}`
