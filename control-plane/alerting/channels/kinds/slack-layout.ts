import type { ChangeLine } from '../notices/digest-notice.ts'
import type { NoticeContent, Tone } from '../notices/notice-content.ts'
import { disarmMentions, formatDateTime, truncate, truncateEscaped } from '../notices/wording.ts'

/** What Slack takes: characters of a header, of a text, and of a field. */
const MAX_HEADER_LENGTH = 150
const MAX_TEXT_LENGTH = 3_000
const MAX_FIELD_LENGTH = 2_000
/** A section has ten fields, and a fact takes two of them. */
const MAX_FACTS = 5

/** The button that acknowledges the incident which is its value. */
export const ACKNOWLEDGE_ACTION = 'acknowledge'

/** The one sign of colour that a message without an app can have. */
export const TONE_EMOJI: Record<Tone, string> = { down: '🔴', degraded: '🟡', up: '🟢', neutral: '🔵' }

/**
 * Block Kit. What users wrote stands in plain text only, where nothing is markup. The buttons are links, and carry ids;
 * where the app is installed, `acknowledge` is a button that does it.
 */
export function buildSlackLayout(
  notice: NoticeContent,
  changes: ChangeLine[],
  more: number,
  isInstalled = false,
): object {
  return {
    // what notifications and screen readers say
    text: truncateEscaped(
      `${notice.title}${notice.text === null ? '' : `: ${truncate(notice.text, 500)}`}`,
      MAX_TEXT_LENGTH,
      escapeSlackText,
    ),
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header', text: toPlainText(`${TONE_EMOJI[notice.tone]} ${notice.title}`, MAX_HEADER_LENGTH) },
      ...(notice.text === null ? [] : [{ type: 'section', text: toPlainText(notice.text, MAX_TEXT_LENGTH) }]),
      ...buildFactBlocks(notice),
      ...buildChangeBlocks(changes, more),
      ...buildActionBlocks(notice, isInstalled),
      { type: 'context', elements: [{ type: 'mrkdwn', text: `${formatLocalTime(notice.at)} · Picket` }] },
    ],
  }
}

const toPlainText = (text: string, limit: number) => ({
  type: 'plain_text',
  text: truncateEscaped(text, limit, escapeSlackText),
  emoji: false,
})

/** Slack's three special characters, and words that call everybody. */
export function escapeSlackText(text: string): string {
  return disarmMentions(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function buildFactBlocks({ facts }: NoticeContent): object[] {
  if (facts.length === 0) return []
  const fields = facts
    .slice(0, MAX_FACTS)
    .flatMap(({ label, value }) => [{ type: 'mrkdwn', text: `*${label}*` }, toPlainText(value, MAX_FIELD_LENGTH)])
  return [{ type: 'section', fields }]
}

/** As few sections as hold the lines. */
function buildChangeBlocks(changes: ChangeLine[], more: number): object[] {
  const lines = [...changes.map(formatChangeLine), ...(more > 0 ? [`and ${more} more`] : [])]
  const texts: string[] = []
  for (const line of lines) {
    const longer = texts.length === 0 ? line : `${texts.at(-1)}\n${line}`
    if (texts.length === 0 || longer.length > MAX_TEXT_LENGTH) texts.push(line)
    else texts[texts.length - 1] = longer
  }
  return texts.map(text => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } }))
}

function formatChangeLine({ tone, name, status, time, url }: ChangeLine): string {
  // letters that are markup outside of plain text
  const label = truncateEscaped(name.replace(/[*_~`|]/g, ' '), 200, escapeSlackText)
  return `${TONE_EMOJI[tone]} ${url === null ? label : `<${url.replaceAll('&', '&amp;')}|${label}>`} ${status} · ${time}`
}

function buildActionBlocks({ acknowledge, open, topic }: NoticeContent, isInstalled: boolean): object[] {
  const elements = [
    ...(acknowledge ? [buildAcknowledgeButton(acknowledge.incidentId, isInstalled ? null : acknowledge.url)] : []),
    ...(open ? [{ ...buildButton(open.label, 'open', topic), url: open.url }] : []),
  ]
  return elements.length === 0 ? [] : [{ type: 'actions', elements }]
}

/** `url` null: the app that is installed hears of it. */
export function buildAcknowledgeButton(incidentId: string, url: string | null): object {
  return {
    ...buildButton('Acknowledge', ACKNOWLEDGE_ACTION, incidentId),
    ...(url !== null && { url }),
    style: 'primary',
  }
}

const buildButton = (text: string, actionId: string, value: string) => ({
  type: 'button',
  text: { type: 'plain_text', text, emoji: false },
  action_id: actionId,
  value,
})

/** A time that Slack shows in the reader's own zone. */
export function formatLocalTime(at: string): string {
  return `<!date^${Math.floor(Date.parse(at) / 1000)}^{date_short_pretty}, {time}|${formatDateTime(at)}>`
}
