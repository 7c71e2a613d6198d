/** The text that is proposed for a post-mortem: the times of an incident from its timeline. Pure. */
import { formatDuration, formatTime } from '../../../core/format.ts'
import type { Timeline } from '../axis/axis.ts'
import { type Incident, STATUS_NAMES } from '../incident-words.tsx'

type Item = Timeline['items'][number]

/** More lines than this are not read. */
const MAX_LINES = 40
const MAX_TEXT_LENGTH = 10_000
const MAX_LINE_LENGTH = 400

/**
 * What happened, line by line, in UTC, with the date in the first line of each day. Internal updates, checks and deliveries
 * are left out, because the text may be published. `names`: of the monitors, by id.
 */
export function listTimelineLines({ items }: Pick<Timeline, 'items'>, names: ReadonlyMap<string, string>): string[] {
  let date = ''
  const lines = items.flatMap(item => {
    const text = describe(item, names)
    if (text === null) return []
    const isSameDay = date === item.at.slice(0, 10)
    date = item.at.slice(0, 10)
    return [`${formatTime(item.at, 'UTC', isSameDay ? 'time' : 'both')} UTC  ${cut(text)}`]
  })
  const left = lines.length - MAX_LINES
  return left > 0 ? [...lines.slice(0, MAX_LINES), `and ${left} more`] : lines
}

/** The whole proposal: what happened, the cause and what changes as questions, and the timeline. */
export function proposePostmortem(incident: Incident, timeline: Pick<Timeline, 'items'>): string {
  const { title, started_at: from, resolved_at: to, monitors } = incident
  const names = new Map(monitors.map(({ id, name }) => [id, name]))
  const lasted = to === null ? '' : ` It lasted ${formatDuration(Date.parse(to) - Date.parse(from))}.`
  const affected = monitors.length === 0 ? '' : ` Affected: ${listNames(monitors.map(({ name }) => name))}.`
  return [
    `Summary\n${title}, from ${formatTime(from, 'UTC')} UTC.${lasted}${affected}`,
    'Cause\n',
    'What we change\n',
    `Timeline\n${listTimelineLines(timeline, names).join('\n')}`,
  ]
    .join('\n\n')
    .slice(0, MAX_TEXT_LENGTH)
}

function describe(item: Item, names: ReadonlyMap<string, string>): string | null {
  switch (item.kind) {
    case 'transition':
      return `${names.get(item.monitor_id) ?? 'A monitor'} is ${item.to ?? 'no longer checked'}: ${item.summary}`
    case 'incident_opened':
      return item.source === 'automatic' ? 'The incident is opened automatically' : 'The incident is opened by hand'
    case 'incident_acknowledged':
      return 'The incident is acknowledged'
    case 'incident_updated':
      return item.is_internal ? null : `${STATUS_NAMES[item.status]}: ${item.message.replace(/\s+/g, ' ')}`
    case 'incident_resolved':
      return 'The incident is resolved'
    case 'vendor_incident':
      return `${item.name} reports: ${item.title}`
    default:
      return null
  }
}

const listNames = (all: readonly string[]) =>
  all.length > 10 ? `${all.slice(0, 10).join(', ')} and ${all.length - 10} more` : all.join(', ')

const cut = (text: string) => (text.length > MAX_LINE_LENGTH ? `${text.slice(0, MAX_LINE_LENGTH - 1)}…` : text)
