import { inWords, moment } from '../../channels/wording.ts'
import { escapeHtml } from '../../web/markup.ts'
import type { IncidentView, MaintenanceView, PageView, UpdateView } from '../types.ts'
import { incidentChangedAt } from './changed-at.ts'
import { linkOf } from './statuspage.ts'

/** What a feed says of one incident or one maintenance. Texts are unescaped, `html` is HTML. Times are ISO 8601 UTC. */
export type Entry = {
  /** the same for good, whatever address the page stands at */
  id: string
  title: string
  link: string
  html: string
  publishedAt: string
  updatedAt: string
}

/** Incidents of a page and maintenance that has begun (what is still to come has no time yet), what changed last first. */
export function entriesOf(view: PageView): Entry[] {
  const incidents = [...view.openIncidents, ...view.pastIncidents].map(incident => ofIncident(view, incident))
  const maintenance = view.maintenance.filter(one => one.isRunning).map(one => ofMaintenance(view, one))
  return [...incidents, ...maintenance].sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
}

function ofIncident(view: PageView, incident: IncidentView): Entry {
  const { id, title, status, startedAt, updates, componentNames } = incident
  const told = updates.length > 0 ? updates : [{ status, at: startedAt, message: '' }]
  return {
    id: `urn:uuid:${id}`,
    title,
    link: linkOf(view, id),
    html: [...told.map(said), affected(componentNames)].join(''),
    publishedAt: startedAt,
    updatedAt: incidentChangedAt(incident),
  }
}

function ofMaintenance(view: PageView, one: MaintenanceView): Entry {
  const { id, name, description, startsAt, endsAt, componentNames } = one
  const span = `<p><strong>Maintenance</strong>: ${moment(startsAt)} to ${moment(endsAt)}</p>`
  return {
    // a window that recurs has an entry each time
    id: `urn:uuid:${id}#${startsAt}`,
    title: name,
    link: view.publicUrl,
    html: `${span}${paragraph(description ?? '')}${affected(componentNames)}`,
    publishedAt: startsAt,
    updatedAt: startsAt,
  }
}

const said = ({ status, at, message }: Omit<UpdateView, 'id'>) =>
  `<p><strong>${inWords(status)}</strong>, <small>${moment(at)}</small></p>${paragraph(message)}`

const paragraph = (text: string) => (text === '' ? '' : `<p>${escapeHtml(text).replaceAll('\n', '<br>')}</p>`)

const affected = (names: readonly string[]) =>
  names.length === 0 ? '' : `<p>Affects ${escapeHtml(names.join(', '))}</p>`
