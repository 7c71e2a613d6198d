import type { IncidentView, PageView } from '../../core/types.ts'

/** When something that a page shows last changed, ISO 8601 UTC; looking the page up again changes nothing. */
export function findLastChange(view: PageView): string {
  const components = view.sections.flatMap(section =>
    section.kind === 'group' ? section.group.components : section.component,
  )
  const begun = view.maintenance.filter(one => one.isRunning).map(one => one.startsAt)
  const times = [
    ...components.map(component => component.updatedAt),
    ...[...view.openIncidents, ...view.pastIncidents].map(findLastIncidentChange),
    ...begun,
  ]
  return times.reduce((newest, time) => (time > newest ? time : newest), NEVER)
}

/** When an incident began, was spoken of or ended, whichever came last. */
export const findLastIncidentChange = ({ startedAt, resolvedAt, updates }: IncidentView): string =>
  [startedAt, resolvedAt ?? '', ...updates.map(update => update.at)].reduce((newest, at) => (at > newest ? at : newest))

const NEVER = '1970-01-01T00:00:00.000Z'
