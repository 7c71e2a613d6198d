import { acknowledgeButton, escaped, SIGNS } from '../channels/chat-a-layout.ts'
import { humanDuration } from '../events/duration.ts'
import { oneLine } from '../web/visible.ts'
import { codeOf } from './command.ts'

/** What one person is told. `text` stands for the blocks where they cannot be shown. */
export type Answer = { response_type: 'ephemeral'; text: string; blocks?: object[] }

type Incident = {
  id: string
  title: string
  severity: string
  started_at: Date
  acknowledged_at: Date | null
}
type Counts = { total: number; up: number; down: number; degraded: number; paused: number; pending: number }

/** What users wrote loses all that is markup in a chat. */
export const plainly = (text: string): string => escaped(oneLine(text).replace(/[*_~`|]/g, ' '))

export const say = (text: string): Answer => ({ response_type: 'ephemeral', text })

export const helpAnswer = (): Answer =>
  say(
    [
      '`/picket status`: how the monitors are',
      '`/picket incidents`: what is open',
      '`/picket ack`: acknowledge the open incident; `/picket ack a1b2c3` where there are several',
    ].join('\n'),
  )

export const unknownTeamAnswer = (publicUrl: string): Answer =>
  say(`Picket is not connected to this team. Connect it at ${publicUrl}/settings/chat`)

export const failedAnswer = (): Answer => say('Picket cannot answer at the moment. Try again in a minute.')
export const slowAnswer = (): Answer => say('One moment…')

const MOST_NAMED = 10

/** How the monitors of a project are, and which of them are not up. */
export function statusAnswer(counts: Counts, troubled: { name: string; status: string }[], open: number): Answer {
  if (counts.total === 0) return say('There are no monitors yet.')
  const { up, degraded, down, paused, pending } = counts
  const states = [`${up} up`, `${degraded} degraded`, `${down} down`, `${paused} paused`, `${pending} pending`]
  const figures = states.join(' · ')
  const names = troubled
    .slice(0, MOST_NAMED)
    .map(({ name, status }) => `${status === 'down' ? SIGNS.down : SIGNS.degraded} ${plainly(name)} is ${status}`)
  const more = down + degraded - names.length
  const incidents =
    open === 0 ? 'No open incidents.' : `${open} open ${open === 1 ? 'incident' : 'incidents'}: \`/picket incidents\``
  return say([figures, ...names, ...(more > 0 ? [`and ${more} more`] : []), incidents].join('\n'))
}

/** The open incidents, those that nobody has acknowledged with a button. `intro`: why they are shown. */
export function incidentsAnswer(incidents: Incident[], total: number, intro: string, now: Date): Answer {
  if (incidents.length === 0) return say('No open incidents.')
  const lines = incidents.map(incident => lineOf(incident, now))
  const more = total > incidents.length ? [`and ${total - incidents.length} more`] : []
  const blocks = incidents.map((incident, i) => ({
    ...section(lines[i]!),
    ...(incident.acknowledged_at === null && { accessory: acknowledgeButton(incident.id, null) }),
  }))
  return {
    ...say([intro, ...lines, ...more].join('\n')),
    blocks: [section(intro), ...blocks, ...more.map(section)],
  }
}

const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } })

function lineOf({ id, title, severity, started_at, acknowledged_at }: Incident, now: Date): string {
  const lasts = humanDuration(now.getTime() - started_at.getTime())
  const handled = acknowledged_at === null ? '' : ' · acknowledged'
  return `\`${codeOf(id)}\` ${plainly(title)} · ${severity} · for ${lasts}${handled}`
}
