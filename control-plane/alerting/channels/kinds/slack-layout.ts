import type { ChangeLine } from '../notices/digest-notice.ts'
import type { NoticeContent, Tone } from '../notices/notice-content.ts'
import { disarmMentions, formatDateTime, truncate, truncateEscaped } from '../notices/wording.ts'

/** Slack's limits: characters of a header, a text and a field. */
const MAX_HEADER_LENGTH = 150
const MAX_TEXT_LENGTH = 3_000
const MAX_FIELD_LENGTH = 2_000
/** A section has ten fields; a fact needs two. */
const MAX_FACTS = 5

/** Action id of the button that acknowledges an incident. Its value is the incident's id. */
export const ACKNOWLEDGE_ACTION = 'acknowledge'

/** Emoji, because messages to an incoming webhook cannot have colours. */
export const TONE_EMOJI: Record<Tone, string> = { down: '🔴', degraded: '🟡', up: '🟢', neutral: '🔵' }

/**
 * Block Kit. Text from users is in plain text elements only, which have no markup. The buttons are links with ids. With an
 * installed app, the acknowledge button acknowledges without a link.
 */
export function buildSlackLayout(
  notice: NoticeContent,
  changes: ChangeLine[],
  more: number,
  isInstalled = false,
): object {
  return {
    // for notifications and screen readers
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

/** Escapes Slack's three special characters and disarms mentions of all members. */
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

/** Puts the lines into as few sections as possible. */
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
  // characters that are markup outside of plain text elements
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

/** `url` null: the installed app receives the click. */
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
function formatLocalTime(at: string): string {
  return `<!date^${Math.floor(Date.parse(at) / 1000)}^{date_short_pretty}, {time}|${formatDateTime(at)}>`
}
