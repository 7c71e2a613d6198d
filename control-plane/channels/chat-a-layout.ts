import type { ChangeLine } from './digest-notice.ts'
import type { Notice, Tone } from './notice.ts'
import { cut, fit, moment, withoutCalls } from './wording.ts'

/** What Slack takes: characters of a header, of a text, and of a field. */
const HEADER_LIMIT = 150
const TEXT_LIMIT = 3_000
const FIELD_LIMIT = 2_000
/** A section has ten fields, and a fact takes two of them. */
const FACTS_LIMIT = 5

/** The button that acknowledges the incident which is its value. */
export const ACKNOWLEDGE = 'acknowledge'

/** The one sign of colour that a message without an app can have. */
export const SIGNS: Record<Tone, string> = { down: '🔴', degraded: '🟡', up: '🟢', neutral: '🔵' }

/**
 * Block Kit. What users wrote stands in plain text only, where nothing is markup. The buttons are links, and carry ids;
 * where the app is installed, `acknowledge` is a button that does it.
 */
export function chatLayout(notice: Notice, changes: ChangeLine[], more: number, isInstalled = false): object {
  return {
    // what notifications and screen readers say
    text: fit(`${notice.title}${notice.text === null ? '' : `: ${cut(notice.text, 500)}`}`, TEXT_LIMIT, escaped),
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header', text: plain(`${SIGNS[notice.tone]} ${notice.title}`, HEADER_LIMIT) },
      ...(notice.text === null ? [] : [{ type: 'section', text: plain(notice.text, TEXT_LIMIT) }]),
      ...factBlocks(notice),
      ...changeBlocks(changes, more),
      ...actionBlocks(notice, isInstalled),
      { type: 'context', elements: [{ type: 'mrkdwn', text: `${localTime(notice.at)} · Picket` }] },
    ],
  }
}

const plain = (text: string, limit: number) => ({ type: 'plain_text', text: fit(text, limit, escaped), emoji: false })

/** Slack's three special characters, and words that call everybody. */
export function escaped(text: string): string {
  return withoutCalls(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function factBlocks({ facts }: Notice): object[] {
  if (facts.length === 0) return []
  const fields = facts
    .slice(0, FACTS_LIMIT)
    .flatMap(({ label, value }) => [{ type: 'mrkdwn', text: `*${label}*` }, plain(value, FIELD_LIMIT)])
  return [{ type: 'section', fields }]
}

/** As few sections as hold the lines. */
function changeBlocks(changes: ChangeLine[], more: number): object[] {
  const lines = [...changes.map(lineOf), ...(more > 0 ? [`and ${more} more`] : [])]
  const texts: string[] = []
  for (const line of lines) {
    const longer = texts.length === 0 ? line : `${texts.at(-1)}\n${line}`
    if (texts.length === 0 || longer.length > TEXT_LIMIT) texts.push(line)
    else texts[texts.length - 1] = longer
  }
  return texts.map(text => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } }))
}

function lineOf({ tone, name, status, time, url }: ChangeLine): string {
  // letters that are markup outside of plain text
  const label = fit(name.replace(/[*_~`|]/g, ' '), 200, escaped)
  return `${SIGNS[tone]} ${url === null ? label : `<${url.replaceAll('&', '&amp;')}|${label}>`} ${status} · ${time}`
}

function actionBlocks({ acknowledge, open, topic }: Notice, isInstalled: boolean): object[] {
  const elements = [
    ...(acknowledge ? [acknowledgeButton(acknowledge.incidentId, isInstalled ? null : acknowledge.url)] : []),
    ...(open ? [{ ...button(open.label, 'open', topic), url: open.url }] : []),
  ]
  return elements.length === 0 ? [] : [{ type: 'actions', elements }]
}

/** `url` null: the app that is installed hears of it. */
export function acknowledgeButton(incidentId: string, url: string | null): object {
  return { ...button('Acknowledge', ACKNOWLEDGE, incidentId), ...(url !== null && { url }), style: 'primary' }
}

const button = (text: string, actionId: string, value: string) => ({
  type: 'button',
  text: { type: 'plain_text', text, emoji: false },
  action_id: actionId,
  value,
})

/** A time that Slack shows in the reader's own zone. */
export function localTime(at: string): string {
  return `<!date^${Math.floor(Date.parse(at) / 1000)}^{date_short_pretty}, {time}|${moment(at)}>`
}
