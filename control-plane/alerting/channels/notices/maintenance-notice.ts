import { stripInvisible, toOneLine } from '../../../foundation/web/validation/visible-text.ts'
import { formatDuration } from '../../events/duration.ts'
import { getPeriodId, type MaintenanceEventName } from '../../events/maintenance-event.ts'
import type { EventPage, PageMaintenanceChange } from '../../events/page-event.ts'
import type { NoticeContent, Tone } from './notice-content.ts'
import { formatDateTime, formatList, pluralize, toWebLink, truncate } from './wording.ts'

const MAX_LENGTHS = { title: 300, text: 10_000, value: 2_100 }

const WORDS: Record<MaintenanceEventName, { badge: string; tone: Tone }> = {
  'maintenance.announced': { badge: 'Planned maintenance', tone: 'neutral' },
  'maintenance.changed': { badge: 'Maintenance rescheduled', tone: 'neutral' },
  'maintenance.begun': { badge: 'Maintenance in progress', tone: 'neutral' },
  'maintenance.ended': { badge: 'Maintenance completed', tone: 'up' },
  'maintenance.cancelled': { badge: 'Maintenance cancelled', tone: 'neutral' },
}

/** Converts a stage of maintenance to a notice for subscribers. The notices of one period have one topic. */
export function toMaintenanceNotice(page: EventPage, change: PageMaintenanceChange): NoticeContent {
  const { event, at, maintenance, previous, components } = change
  const { title, description, starts_at, ends_at } = maintenance
  const isOver = event === 'maintenance.ended'
  const hasBegun = isOver || event === 'maintenance.begun' || (event === 'maintenance.changed' && starts_at <= at)
  const length = formatDuration(Date.parse(ends_at) - Date.parse(starts_at))
  const facts = [
    { label: pluralize(components.length, 'Component'), value: formatList(components.map(({ name }) => name)) },
    { label: hasBegun ? 'Began' : 'Begins', value: formatDateTime(starts_at) },
    { label: isOver ? 'Ended' : 'Ends', value: formatDateTime(ends_at) },
    { label: isOver ? 'Lasted' : 'Duration', value: length },
    ...(previous
      ? [{ label: 'Before', value: `${formatDateTime(previous.starts_at)} to ${formatDateTime(previous.ends_at)}` }]
      : []),
  ]
  return {
    ...WORDS[event],
    title: truncate(toOneLine(title), MAX_LENGTHS.title),
    text: isOver ? null : truncate(stripInvisible(description ?? '').trim(), MAX_LENGTHS.text) || null,
    facts: facts.map(({ label, value }) => ({ label, value: truncate(toOneLine(value), MAX_LENGTHS.value) })),
    open: toWebLink('Open the status page', `${page.url}#maintenance`),
    acknowledge: null,
    topic: `maintenance:${getPeriodId(maintenance)}`,
    at,
  }
}
