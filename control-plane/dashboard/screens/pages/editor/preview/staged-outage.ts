import { pickWorstStatus } from '../../../../../pages/core/component-status.ts'
import type {
  ComponentView,
  DayView,
  IncidentView,
  MaintenanceView,
  PageView,
} from '../../../../../pages/core/types.ts'
import { computeOverallStatus } from '../../../../../pages/public/view/overall-status.ts'
import { mapComponents } from './draft-view.ts'

const MINUTE_MS = 60_000
const OUTAGE_MINUTES = 25
const STATUSES = ['outage', 'degraded', 'maintenance'] as const

/**
 * The same page during an outage: its first component is down with an incident, the second is degraded, the third is being
 * maintained, and an earlier incident is resolved. Nothing of it is stored.
 */
export function stageOutage(view: PageView): PageView {
  const before = listComponents(view.sections)
  const order = before.map(({ id }) => id)
  const title = `${before[0]?.name ?? view.name} is down`
  const changed = mapComponents(view.sections, component => {
    const status = STATUSES[order.indexOf(component.id)]
    return status
      ? { ...component, status, days: component.days && changeToday(component.days, status, title) }
      : component
  })
  const sections = changed.map(section =>
    section.kind === 'component'
      ? section
      : { ...section, group: { ...section.group, status: findWorstStatus(section.group.components) } },
  )
  const open = stageIncident(view, before[0], title)
  return {
    ...view,
    overall: computeOverallStatus(
      listComponents(sections).map(({ status }) => status),
      [{ source: before.length === 0 ? 'manual' : 'automatic', severity: open.severity }],
    ),
    sections,
    openIncidents: [open],
    pastIncidents: [stagePastIncident(view, before[1])],
    maintenance: before[2] ? [stageMaintenance(view, before[2])] : [],
  }
}

const listComponents = (sections: PageView['sections']): readonly ComponentView[] =>
  sections.flatMap(section => (section.kind === 'group' ? section.group.components : [section.component]))

const findWorstStatus = (components: readonly ComponentView[]) =>
  pickWorstStatus(components.map(({ status }) => status))

const minutesBefore = ({ at }: PageView, minutes: number) =>
  new Date(Date.parse(at) - minutes * MINUTE_MS).toISOString()

/** Today with a part of the day in this status. */
function changeToday(days: readonly DayView[], status: (typeof STATUSES)[number], title: string): DayView[] {
  const seconds = OUTAGE_MINUTES * 60
  const part = {
    ...(status === 'outage' && { downSeconds: seconds, incidents: [{ id: 'staged', title }] }),
    ...(status === 'degraded' && { degradedSeconds: seconds }),
    ...(status === 'maintenance' && { maintenanceSeconds: seconds }),
  }
  return days.map((day, i) =>
    i === days.length - 1 ? { ...day, ...part, status: status === 'maintenance' ? day.status : status } : day,
  )
}

const about = (component: ComponentView | undefined) => ({
  componentIds: component ? [component.id] : [],
  componentNames: component ? [component.name] : [],
})

const stageIncident = (view: PageView, component: ComponentView | undefined, title: string): IncidentView => ({
  ...{ id: 'staged', title, status: 'identified', severity: 'major' },
  ...{ startedAt: minutesBefore(view, OUTAGE_MINUTES), resolvedAt: null },
  updates: [
    {
      ...{ id: 'staged-2', status: 'identified', at: minutesBefore(view, 9) },
      message: 'We have found the cause and are working on a fix.',
    },
    {
      ...{ id: 'staged-1', status: 'investigating', at: minutesBefore(view, OUTAGE_MINUTES - 2) },
      message: 'Some requests fail. We are looking into it.',
    },
  ],
  ...about(component),
  postmortem: null,
})

const stagePastIncident = (view: PageView, component: ComponentView | undefined): IncidentView => ({
  ...{ id: 'staged-past', title: `${component?.name ?? view.name} was slow`, status: 'resolved', severity: 'minor' },
  ...{ startedAt: minutesBefore(view, 3_000), resolvedAt: minutesBefore(view, 2_960) },
  updates: [{ id: 'staged-3', status: 'resolved', at: minutesBefore(view, 2_960), message: 'Everything works again.' }],
  ...about(component),
  postmortem: null,
})

const stageMaintenance = (view: PageView, component: ComponentView): MaintenanceView => ({
  ...{ id: 'staged-maintenance', name: 'Planned maintenance', description: 'We are replacing a part of the system.' },
  ...{ isRunning: true, startsAt: minutesBefore(view, OUTAGE_MINUTES), endsAt: minutesBefore(view, -95) },
  ...about(component),
})
