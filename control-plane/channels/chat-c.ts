import { chatKind } from './chat-kind.ts'
import type { ChangeLine } from './digest-notice.ts'
import type { Notice, Tone } from './notice.ts'
import { cut, moment, withoutCalls } from './wording.ts'

/** Teams takes 28 kB, and a character may be three bytes. */
const TITLE_LIMIT = 200
const TEXT_LIMIT = 3_000
const VALUE_LIMIT = 400
const LINES_LIMIT = 20

const STYLES: Record<Tone, string> = { down: 'attention', degraded: 'warning', up: 'good', neutral: 'accent' }

/**
 * Teams-compatible workflow webhook: an Adaptive Card. What users wrote stands in text runs only, which know no
 * markdown; `{{…}}` would be a function of the card and is taken apart.
 */
export const chatC = chatKind(
  (notice, changes, more) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          fallbackText: literal(notice.title, TITLE_LIMIT),
          msteams: { width: 'Full' },
          body: [head(notice), ...textOf(notice), ...factsOf(notice), ...changesOf(changes, more), foot(notice)],
          actions: actionsOf(notice),
        },
      },
    ],
  }),
  { changes: 25 },
)

function literal(text: string, limit: number): string {
  return cut(withoutCalls(text), limit).replaceAll('{{', '{\u200b{').replaceAll('<at>', '<\u200bat>')
}

type Look = { weight?: string; size?: string; isSubtle?: boolean; color?: string }

const run = (text: string, limit: number, look: Look = {}) => ({ type: 'TextRun', text: literal(text, limit), ...look })
const line = (runs: object[], spacing = 'Small') => ({ type: 'RichTextBlock', spacing, inlines: runs })

function head({ tone, title }: Notice): object {
  return {
    type: 'Container',
    style: STYLES[tone],
    bleed: true,
    items: [line([run(title, TITLE_LIMIT, { weight: 'Bolder', size: 'Large' })])],
  }
}

/** A text run has no line breaks, so each line is a block. */
function textOf({ text }: Notice): object[] {
  const lines = cut(text ?? '', TEXT_LIMIT).split(/\n+/)
  const shown = [...lines.slice(0, LINES_LIMIT - 1), lines.slice(LINES_LIMIT - 1).join(' ')]
  return shown.filter(Boolean).map((text, i) => line([run(text, TEXT_LIMIT)], i === 0 ? 'Medium' : 'Small'))
}

function factsOf({ facts }: Notice): object[] {
  return facts.map(({ label, value }, i) =>
    line([run(`${label}: `, VALUE_LIMIT, { weight: 'Bolder' }), run(value, VALUE_LIMIT)], i === 0 ? 'Medium' : 'Small'),
  )
}

function changesOf(changes: ChangeLine[], more: number): object[] {
  const lines = changes.map(({ tone, name, status, time, url }) =>
    line([
      run(`${status} `, VALUE_LIMIT, { weight: 'Bolder', ...(tone !== 'neutral' && { color: colourOf(tone) }) }),
      { ...run(name, 100), ...(url && url.length <= 300 && { selectAction: { type: 'Action.OpenUrl', url } }) },
      run(` · ${time}`, VALUE_LIMIT, { isSubtle: true }),
    ]),
  )
  return [...lines, ...(more > 0 ? [line([run(`and ${more} more`, VALUE_LIMIT, { isSubtle: true })])] : [])]
}

const colourOf = (tone: Tone) => ({ down: 'Attention', degraded: 'Warning', up: 'Good', neutral: 'Default' })[tone]

const foot = ({ at }: Notice) => line([run(`${moment(at)} · Picket`, 60, { isSubtle: true, size: 'Small' })], 'Medium')

function actionsOf({ acknowledge, open }: Notice): object[] {
  const openUrl = (title: string, url: string) => ({ type: 'Action.OpenUrl', title, url })
  return [
    ...(acknowledge ? [openUrl('Acknowledge', acknowledge.url)] : []),
    ...(open ? [openUrl(open.label, open.url)] : []),
  ]
}
