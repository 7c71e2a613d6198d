import { formatDateTime, formatState } from '../../../alerting/channels/notices/wording.ts'
import { escapeHtml } from '../../../foundation/web/html/escape.ts'
import type { IncidentView, MaintenanceView, PageView, UpdateView } from '../../core/types.ts'
import { findLastIncidentChange } from './changed-at.ts'
import { buildIncidentUrl } from './statuspage.ts'

/** What a feed says of one incident or one maintenance. Texts are unescaped, `html` is HTML. Times are ISO 8601 UTC. */
export type PageFeedEntry = {
  /** the same for good, whatever address the page stands at */
  id: string
  title: string
  link: string
  html: string
  publishedAt: string
  updatedAt: string
}

/** Incidents of a page and maintenance that has begun (what is still to come has no time yet), what changed last first. */
export function buildFeedEntries(view: PageView): PageFeedEntry[] {
  const incidents = [...view.openIncidents, ...view.pastIncidents].map(incident => toIncidentEntry(view, incident))
  const maintenance = view.maintenance.filter(one => one.isRunning).map(one => toMaintenanceEntry(view, one))
  return [...incidents, ...maintenance].sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
}

function toIncidentEntry(view: PageView, incident: IncidentView): PageFeedEntry {
  const { id, title, status, startedAt, updates, componentNames } = incident
  const told = updates.length > 0 ? updates : [{ status, at: startedAt, message: '' }]
  return {
    id: `urn:uuid:${id}`,
    title,
    link: buildIncidentUrl(view, id),
    html: [...told.map(renderUpdate), renderAffected(componentNames)].join(''),
    publishedAt: startedAt,
    updatedAt: findLastIncidentChange(incident),
  }
}

function toMaintenanceEntry(view: PageView, one: MaintenanceView): PageFeedEntry {
  const { id, name, description, startsAt, endsAt, componentNames } = one
  const span = `<p><strong>Maintenance</strong>: ${formatDateTime(startsAt)} to ${formatDateTime(endsAt)}</p>`
  return {
    // a window that recurs has an entry each time
    id: `urn:uuid:${id}#${startsAt}`,
    title: name,
    link: view.publicUrl,
    html: `${span}${renderParagraph(description ?? '')}${renderAffected(componentNames)}`,
    publishedAt: startsAt,
    updatedAt: startsAt,
  }
}

const renderUpdate = ({ status, at, message }: Omit<UpdateView, 'id'>) =>
  `<p><strong>${formatState(status)}</strong>, <small>${formatDateTime(at)}</small></p>${renderParagraph(message)}`

const renderParagraph = (text: string) => (text === '' ? '' : `<p>${escapeHtml(text).replaceAll('\n', '<br>')}</p>`)

const renderAffected = (names: readonly string[]) =>
  names.length === 0 ? '' : `<p>Affects ${escapeHtml(names.join(', '))}</p>`
