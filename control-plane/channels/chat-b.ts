import { chatKind } from './chat-kind.ts'
import type { ChangeLine } from './digest-notice.ts'
import type { Notice, Tone } from './notice.ts'
import { fit, withoutCalls } from './wording.ts'

/** What Discord takes is more in each place, but 6,000 characters in one embed. */
const TITLE_LIMIT = 256
const TEXT_LIMIT = 2_400
const CHANGES_LIMIT = 3_600
const VALUE_LIMIT = 300

const COLOURS: Record<Tone, number> = { down: 0xd92d20, degraded: 0xf79009, up: 0x079455, neutral: 0x2e6fd9 }

/** Discord-compatible webhook: one embed, in which nobody is mentioned. */
export const chatB = chatKind(
  (notice, changes, more) => ({
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: fit(notice.title, TITLE_LIMIT, escaped),
        ...(notice.open && { url: notice.open.url }),
        description: [...textOf(notice), ...linesOf(changes, more), ...linksOf(notice)].join('\n\n'),
        color: COLOURS[notice.tone],
        fields: notice.facts.map(({ label, value }) => ({
          name: label,
          value: fit(value, VALUE_LIMIT, escaped),
          inline: value.length <= 40,
        })),
        footer: { text: 'Picket' },
        timestamp: notice.at,
      },
    ],
  }),
  { changes: 50 },
)

/** Discord's markdown with a backslash before all that could be markup, at the start of a line or anywhere. */
function escaped(text: string): string {
  return withoutCalls(text)
    .replace(/[\\*_~`|<>[\]()]/g, '\\$&')
    .replace(/^(\s*)([#+-]|\d+(?=\.))/gm, (_, blank: string, mark: string) =>
      /\d/.test(mark) ? `${blank}${mark}\\` : `${blank}\\${mark}`,
    )
}

const textOf = ({ text }: Notice) => (text === null ? [] : [fit(text, TEXT_LIMIT, escaped)])

/** As many lines as there is room for; the others are counted. */
function linesOf(changes: ChangeLine[], more: number): string[] {
  const lines: string[] = []
  let length = 0
  for (const change of changes) {
    const line = lineOf(change)
    length += line.length + 1
    if (length > CHANGES_LIMIT) break
    lines.push(line)
  }
  const left = changes.length - lines.length + more
  return lines.length === 0 ? [] : [[...lines, ...(left > 0 ? [`and ${left} more`] : [])].join('\n')]
}

function lineOf({ name, status, time, url }: ChangeLine): string {
  const label = fit(name, 100, escaped)
  return `**${status}** ${url === null ? label : `[${label}](${plainUrl(url)})`} · ${time}`
}

/** A webhook has no buttons of its own. */
function linksOf({ acknowledge, open }: Notice): string[] {
  const links = [
    ...(acknowledge ? [`[Acknowledge](${plainUrl(acknowledge.url)})`] : []),
    ...(open ? [`[${open.label}](${plainUrl(open.url)})`] : []),
  ]
  return links.length === 0 ? [] : [links.join(' · ')]
}

/** Brackets would end the link. */
const plainUrl = (url: string) => url.replaceAll('(', '%28').replaceAll(')', '%29')
