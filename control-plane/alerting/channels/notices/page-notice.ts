import { sanitizeNameForEmail } from '../../../accounts/email/confirmation/address.ts'
import { stripInvisible, toOneLine } from '../../../foundation/web/validation/visible-text.ts'
import { formatDuration } from '../../events/duration.ts'
import type {
  EventPage,
  PageChange,
  PageConfirmationData,
  PageIncidentChange,
  PageNoticeData,
} from '../../events/page-event.ts'
import type { ChangeLine } from './digest-notice.ts'
import { toMaintenanceNotice } from './maintenance-notice.ts'
import type { NoticeContent, Tone } from './notice-content.ts'
import { formatDateTime, formatList, formatState, pluralize, toWebLink, truncate } from './wording.ts'

/** Maximum lengths. */
const MAX_LENGTHS = { title: 300, text: 10_000, value: 2_100, name: 200 }

/**
 * Converts changes to a notice for subscribers: one change with its full text, or several as lines. Of each incident, only
 * the last change counts.
 */
export function toPageNotice({ page, changes: all }: PageNoticeData): { notice: NoticeContent; lines: ChangeLine[] } {
  const incidents = listLastChanges(all.filter(isIncidentChange))
  const changes = all.filter(change => !isIncidentChange(change) || incidents.includes(change))
  const [change] = changes
  if (change && changes.length === 1) {
    const notice = isIncidentChange(change) ? toSingleNotice(page, change) : toMaintenanceNotice(page, change)
    return { notice, lines: [] }
  }
  return { notice: toCombinedNotice(page, incidents), lines: incidents.map(toChangeLine) }
}

const isIncidentChange = (change: PageChange): change is PageIncidentChange => 'incident' in change

/** The last change of each incident, in the order of these changes. */
const listLastChanges = (changes: PageIncidentChange[]): PageIncidentChange[] =>
  changes.filter(({ incident }, i) => changes.findLastIndex(other => other.incident.id === incident.id) === i)

function toSingleNotice(page: EventPage, { at, incident, update, components }: PageIncidentChange): NoticeContent {
  return {
    tone: toTone(incident),
    badge: formatState(incident.status),
    title: truncate(toOneLine(incident.title), MAX_LENGTHS.title),
    text: truncate(stripInvisible(update?.message ?? '').trim(), MAX_LENGTHS.text) || null,
    facts: [
      ...(components.length > 0
        ? [{ label: pluralize(components.length, 'Component'), value: formatList(components.map(({ name }) => name)) }]
        : []),
      { label: 'Severity', value: formatState(incident.severity) },
      { label: 'Began', value: formatDateTime(incident.started_at) },
      ...(incident.resolved_at === null
        ? []
        : [{ label: 'Lasted', value: formatOutageDuration(incident, incident.resolved_at) }]),
    ].map(({ label, value }) => ({ label, value: truncate(toOneLine(value), MAX_LENGTHS.value) })),
    open: toWebLink('Open the status page', `${page.url}#incident-${incident.id}`),
    acknowledge: null,
    topic: `incident:${incident.id}`,
    at,
  }
}

function toCombinedNotice(page: EventPage, changes: PageIncidentChange[]): NoticeContent {
  const open = changes.filter(({ incident }) => incident.status !== 'resolved')
  const worst = open.find(({ incident }) => incident.severity !== 'minor') ?? open[0] ?? changes[0]
  return {
    tone: worst ? toTone(worst.incident) : 'neutral',
    badge: 'Several incidents',
    title: `${changes.length} incidents changed`,
    text: null,
    facts: [],
    open: toWebLink('Open the status page', page.url),
    acknowledge: null,
    topic: `page:${page.id}`,
    at: changes.at(-1)?.at ?? '',
  }
}

function toChangeLine({ at, incident }: PageIncidentChange): ChangeLine {
  return {
    tone: toTone(incident),
    name: truncate(toOneLine(incident.title), MAX_LENGTHS.name),
    status: formatState(incident.status).toLowerCase(),
    time: formatDateTime(at),
    url: null,
  }
}

/** The message to an address that was entered in the form of a status page, by its owner or by another person. */
export function toConfirmationNotice(
  { page, isKnown, expires_at }: PageConfirmationData,
  url: string,
  at: string,
): NoticeContent {
  const name = sanitizeNameForEmail(page.name)
  const request = `This address was entered to receive updates about incidents and maintenance of ${name}`
  return {
    tone: 'neutral',
    badge: isKnown ? 'Already subscribed' : 'Please confirm',
    title: isKnown ? `You are subscribed to ${name}` : `Confirm your subscription to ${name}`,
    text: isKnown
      ? `${request}. You are already subscribed. You can change or end the subscription here.`
      : `${request}. To subscribe, confirm by ${formatDateTime(expires_at)}. If you did not request this, ignore this message; nothing else will be sent.`,
    facts: [{ label: 'Status page', value: page.url }],
    open: toWebLink(isKnown ? 'Change your subscription' : 'Confirm', url),
    acknowledge: null,
    topic: `page:${page.id}`,
    at,
  }
}

const toTone = ({ status, severity }: PageIncidentChange['incident']): Tone =>
  status === 'resolved' ? 'up' : severity === 'minor' ? 'degraded' : 'down'

const formatOutageDuration = (incident: PageIncidentChange['incident'], resolvedAt: string) =>
  formatDuration(Date.parse(resolvedAt) - Date.parse(incident.started_at))
