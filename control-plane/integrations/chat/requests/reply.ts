import { buildAcknowledgeButton, escapeSlackText, TONE_EMOJI } from '../../../alerting/channels/kinds/slack-layout.ts'
import { formatDuration } from '../../../alerting/events/duration.ts'
import { toOneLine } from '../../../foundation/web/validation/visible-text.ts'
import { getIncidentCode } from './command.ts'

/** A reply that one person sees. `text` is shown where blocks cannot be. */
export type EphemeralReply = { response_type: 'ephemeral'; text: string; blocks?: object[] }

type Incident = {
  id: string
  title: string
  severity: string
  started_at: Date
  acknowledged_at: Date | null
}
type Counts = { total: number; up: number; down: number; degraded: number; paused: number; pending: number }

/** Removes markup from text of users. */
export const stripMarkup = (text: string): string => escapeSlackText(toOneLine(text).replace(/[*_~`|]/g, ' '))

export const buildReply = (text: string): EphemeralReply => ({ response_type: 'ephemeral', text })

export const buildHelpReply = (): EphemeralReply =>
  buildReply(
    [
      '`/picket status`: show the status of the monitors',
      '`/picket incidents`: list the open incidents',
      '`/picket ack`: acknowledge the open incident; `/picket ack a1b2c3` if there are several',
    ].join('\n'),
  )

export const buildUnknownTeamReply = (publicUrl: string): EphemeralReply =>
  buildReply(`Picket is not connected to this team. Connect it at ${publicUrl}/settings/chat`)

export const buildFailureReply = (): EphemeralReply =>
  buildReply('Picket cannot answer at the moment. Try again in a minute.')
export const buildPendingReply = (): EphemeralReply => buildReply('One moment…')

const MAX_NAMED_MONITORS = 10

/** Builds a reply with the number of monitors in each status, and those that are not up. */
export function buildStatusReply(
  counts: Counts,
  failing: { name: string; status: string }[],
  open: number,
): EphemeralReply {
  if (counts.total === 0) return buildReply('There are no monitors yet.')
  const { up, degraded, down, paused, pending } = counts
  const states = [`${up} up`, `${degraded} degraded`, `${down} down`, `${paused} paused`, `${pending} pending`]
  const summary = states.join(' · ')
  const names = failing
    .slice(0, MAX_NAMED_MONITORS)
    .map(
      ({ name, status }) =>
        `${status === 'down' ? TONE_EMOJI.down : TONE_EMOJI.degraded} ${stripMarkup(name)} is ${status}`,
    )
  const more = down + degraded - names.length
  const incidents =
    open === 0 ? 'No open incidents.' : `${open} open ${open === 1 ? 'incident' : 'incidents'}: \`/picket incidents\``
  return buildReply([summary, ...names, ...(more > 0 ? [`and ${more} more`] : []), incidents].join('\n'))
}

/** Builds a reply with open incidents. Those that are not acknowledged have a button. */
export function buildIncidentsReply(incidents: Incident[], total: number, intro: string, now: Date): EphemeralReply {
  if (incidents.length === 0) return buildReply('No open incidents.')
  const lines = incidents.map(incident => formatIncident(incident, now))
  const more = total > incidents.length ? [`and ${total - incidents.length} more`] : []
  const blocks = incidents.map((incident, i) => ({
    ...section(lines[i]!),
    ...(incident.acknowledged_at === null && { accessory: buildAcknowledgeButton(incident.id, null) }),
  }))
  return {
    ...buildReply([intro, ...lines, ...more].join('\n')),
    blocks: [section(intro), ...blocks, ...more.map(section)],
  }
}

const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } })

function formatIncident({ id, title, severity, started_at, acknowledged_at }: Incident, now: Date): string {
  const duration = formatDuration(now.getTime() - started_at.getTime())
  const state = acknowledged_at === null ? '' : ' · acknowledged'
  return `\`${getIncidentCode(id)}\` ${stripMarkup(title)} · ${severity} · for ${duration}${state}`
}
