import { unlinkedName } from '../accounts/addresses/address.ts'
import { humanDuration } from '../events/duration.ts'
import type { PageChange, PageConfirmationData, PageNoticeData, PageOfEvent } from '../events/page-event.ts'
import { oneLine, visible } from '../web/visible.ts'
import type { ChangeLine } from './digest-notice.ts'
import type { Notice, Tone } from './notice.ts'
import { cut, inWords, listed, moment, titled, webLink } from './wording.ts'

/** Nobody reads more of it. */
const LIMITS = { title: 300, text: 10_000, value: 2_100, name: 200 }

/** What subscribers of a page read of what happened there: one change with all its words, or several as lines. */
export function pageNotice({ page, changes }: PageNoticeData): { notice: Notice; lines: ChangeLine[] } {
  const [change] = changes
  if (change && changes.length === 1) return { notice: singleNotice(page, change), lines: [] }
  return { notice: manyNotice(page, changes), lines: changes.map(lineOf) }
}

function singleNotice(page: PageOfEvent, { at, incident, update, components }: PageChange): Notice {
  return {
    tone: toneOf(incident),
    badge: inWords(incident.status),
    title: cut(oneLine(incident.title), LIMITS.title),
    text: cut(visible(update?.message ?? '').trim(), LIMITS.text) || null,
    facts: [
      ...(components.length > 0
        ? [{ label: titled(components.length, 'Component'), value: listed(components.map(({ name }) => name)) }]
        : []),
      { label: 'Severity', value: inWords(incident.severity) },
      { label: 'Began', value: moment(incident.started_at) },
      ...(incident.resolved_at === null ? [] : [{ label: 'Lasted', value: lastedOf(incident, incident.resolved_at) }]),
    ].map(({ label, value }) => ({ label, value: cut(oneLine(value), LIMITS.value) })),
    open: webLink('Open the status page', `${page.url}#incident-${incident.id}`),
    acknowledge: null,
    topic: `incident:${incident.id}`,
    at,
  }
}

function manyNotice(page: PageOfEvent, changes: PageChange[]): Notice {
  const open = changes.filter(({ incident }) => incident.status !== 'resolved')
  const worst = open.find(({ incident }) => incident.severity !== 'minor') ?? open[0] ?? changes[0]
  return {
    tone: worst ? toneOf(worst.incident) : 'neutral',
    badge: 'Several incidents',
    title: `${changes.length} incidents changed`,
    text: null,
    facts: [],
    open: webLink('Open the status page', page.url),
    acknowledge: null,
    topic: `page:${page.id}`,
    at: changes.at(-1)?.at ?? '',
  }
}

function lineOf({ at, incident }: PageChange): ChangeLine {
  return {
    tone: toneOf(incident),
    name: cut(oneLine(incident.title), LIMITS.name),
    status: inWords(incident.status).toLowerCase(),
    time: moment(at),
    url: null,
  }
}

/** What somebody reads who gave an address, or whose address somebody gave. */
export function confirmationNotice(
  { page, isKnown, expires_at }: PageConfirmationData,
  url: string,
  at: string,
): Notice {
  const name = unlinkedName(page.name)
  const asked = `Somebody, probably you, asked to hear of incidents of ${name}`
  return {
    tone: 'neutral',
    badge: isKnown ? 'Subscribed already' : 'Please confirm',
    title: isKnown ? `You are subscribed to ${name}` : `Confirm your subscription to ${name}`,
    text: isKnown
      ? `${asked}. You do already. What you hear of can be changed or ended here.`
      : `${asked}. You will be sent nothing unless you confirm it until ${moment(expires_at)}. If it was not you, there is nothing to do.`,
    facts: [{ label: 'Status page', value: page.url }],
    open: webLink(isKnown ? 'Change what you hear' : 'Confirm', url),
    acknowledge: null,
    topic: `page:${page.id}`,
    at,
  }
}

const toneOf = ({ status, severity }: PageChange['incident']): Tone =>
  status === 'resolved' ? 'up' : severity === 'minor' ? 'degraded' : 'down'

const lastedOf = (incident: PageChange['incident'], resolvedAt: string) =>
  humanDuration(Date.parse(resolvedAt) - Date.parse(incident.started_at))
