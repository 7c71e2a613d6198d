import type { IncidentView, PageView } from '../../core/types.ts'

/** The time of the last change that a page shows, ISO 8601 UTC. Reading the page again does not change it. */
export function findLastChange(view: PageView): string {
  const components = view.sections.flatMap(section =>
    section.kind === 'group' ? section.group.components : section.component,
  )
  const started = view.maintenance.filter(one => one.isRunning).map(one => one.startsAt)
  const times = [
    ...components.map(component => component.updatedAt),
    ...[...view.openIncidents, ...view.pastIncidents].map(findLastIncidentChange),
    ...started,
    ...view.noticedMaintenance.flatMap(one => one.notices.map(notice => notice.at)),
  ]
  return times.reduce((newest, time) => (time > newest ? time : newest), NEVER)
}

/** The time at which an incident began, was updated or ended, or its post-mortem was published, whichever is last. */
export const findLastIncidentChange = ({ startedAt, resolvedAt, updates, postmortem }: IncidentView): string =>
  [startedAt, resolvedAt ?? '', postmortem?.publishedAt ?? '', ...updates.map(update => update.at)].reduce(
    (newest, at) => (at > newest ? at : newest),
  )

const NEVER = '1970-01-01T00:00:00.000Z'
