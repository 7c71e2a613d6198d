import type { ChangeLine } from '../notices/digest-notice.ts'
import type { NoticeContent, Tone } from '../notices/notice-content.ts'
import { disarmMentions, truncateEscaped } from '../notices/wording.ts'

/** Discord accepts more in each part, but at most 6,000 characters in one embed. */
const MAX_TITLE_LENGTH = 256
const MAX_TEXT_LENGTH = 2_400
const MAX_CHANGES_LENGTH = 3_600
const MAX_VALUE_LENGTH = 300

const COLOURS: Record<Tone, number> = { down: 0xd92d20, degraded: 0xf79009, up: 0x079455, neutral: 0x2e6fd9 }

/** Discord-compatible: one embed without mentions. */
export const buildDiscordLayout = (notice: NoticeContent, changes: ChangeLine[], more: number) => ({
  allowed_mentions: { parse: [] },
  embeds: [
    {
      title: truncateEscaped(notice.title, MAX_TITLE_LENGTH, escapeMarkdown),
      ...(notice.open && { url: notice.open.url }),
      description: [...buildText(notice), ...buildChangeLines(changes, more), ...buildLinks(notice)].join('\n\n'),
      color: COLOURS[notice.tone],
      fields: notice.facts.map(({ label, value }) => ({
        name: label,
        value: truncateEscaped(value, MAX_VALUE_LENGTH, escapeMarkdown),
        inline: value.length <= 40,
      })),
      footer: { text: 'Picket' },
      timestamp: notice.at,
    },
  ],
})

/**
 * Escapes Discord's Markdown with backslashes, both inline and at the start of a line. A backslash would change the
 * address of a link, so that in addresses the characters of Markdown are percent-encoded instead.
 */
export function escapeMarkdown(text: string): string {
  let escaped = ''
  let end = 0
  // what is not allowed in an address, or can be around it, ends it
  for (const { index, 0: found } of text.matchAll(/https?:\/\/[^\s<>[\]\\"]+/g)) {
    const url = withoutPunctuation(found)
    escaped += escapeText(text.slice(end, index), end === 0) + encodeMarkdown(url)
    end = index + url.length
  }
  return escaped + escapeText(text.slice(end), end === 0)
}

/** Without the end of a sentence, or of brackets around the address. */
const withoutPunctuation = (url: string) =>
  url.includes('(') ? url.replace(/[.,;:!?']+$/, '') : url.replace(/[).,;:!?'*`]+$/, '')

/** `isStart`: the text begins a line. */
function escapeText(text: string, isStart: boolean): string {
  const inline = disarmMentions(text).replace(/[\\*_~`|<>[\]()]/g, '\\$&')
  return inline.replace(/^(\s*)([#+-]|\d+(?=\.))/gm, (all, blank: string, mark: string, at: number) => {
    if (at === 0 && !isStart && !blank.includes('\n')) return all
    return /\d/.test(mark) ? `${blank}${mark}\\` : `${blank}\\${mark}`
  })
}

/** A receiver decodes these characters, so that the address stays the same. */
const encodeMarkdown = (url: string) =>
  disarmMentions(url).replace(/[()*_~`|]/g, mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)

const buildText = ({ text }: NoticeContent) =>
  text === null ? [] : [truncateEscaped(text, MAX_TEXT_LENGTH, escapeMarkdown)]

/** Renders as many lines as fit. The rest is counted. */
function buildChangeLines(changes: ChangeLine[], more: number): string[] {
  const lines: string[] = []
  let length = 0
  for (const change of changes) {
    const line = formatChangeLine(change)
    length += line.length + 1
    if (length > MAX_CHANGES_LENGTH) break
    lines.push(line)
  }
  const left = changes.length - lines.length + more
  return lines.length === 0 ? [] : [[...lines, ...(left > 0 ? [`and ${left} more`] : [])].join('\n')]
}

function formatChangeLine({ name, status, time, url }: ChangeLine): string {
  const label = truncateEscaped(name, 100, escapeMarkdown)
  return `**${status}** ${url === null ? label : `[${label}](${escapeUrl(url)})`} · ${time}`
}

/** Links, because messages to a webhook cannot have buttons. */
function buildLinks({ acknowledge, open }: NoticeContent): string[] {
  const links = [
    ...(acknowledge ? [`[Acknowledge](${escapeUrl(acknowledge.url)})`] : []),
    ...(open ? [`[${open.label}](${escapeUrl(open.url)})`] : []),
  ]
  return links.length === 0 ? [] : [links.join(' · ')]
}

/** Brackets would end the link. */
const escapeUrl = (url: string) => url.replaceAll('(', '%28').replaceAll(')', '%29')
