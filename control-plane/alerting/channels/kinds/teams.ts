import type { ChangeLine } from '../notices/digest-notice.ts'
import type { NoticeContent, Tone } from '../notices/notice-content.ts'
import { disarmMentions, formatDateTime, truncate } from '../notices/wording.ts'

/** Teams accepts 28 kB, and a character can have three bytes. */
const MAX_TITLE_LENGTH = 200
const MAX_TEXT_LENGTH = 3_000
const MAX_VALUE_LENGTH = 400
const MAX_LINES = 20

const STYLES: Record<Tone, string> = { down: 'attention', degraded: 'warning', up: 'good', neutral: 'accent' }

/**
 * Teams-compatible: an Adaptive Card. Text from users is in text runs only, which have no Markdown; `{{…}}` would be a template function and is
 * broken up.
 */
export const buildTeamsLayout = (notice: NoticeContent, changes: ChangeLine[], more: number) => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.4',
        fallbackText: escapeLiteral(notice.title, MAX_TITLE_LENGTH),
        msteams: { width: 'Full' },
        body: [
          buildHeader(notice),
          ...buildTextBlocks(notice),
          ...buildFactBlocks(notice),
          ...buildChangeBlocks(changes, more),
          buildFooter(notice),
        ],
        actions: buildActions(notice),
      },
    },
  ],
})

function escapeLiteral(text: string, limit: number): string {
  return truncate(disarmMentions(text), limit).replaceAll('{{', '{\u200b{').replaceAll('<at>', '<\u200bat>')
}

type TextStyle = { weight?: string; size?: string; isSubtle?: boolean; color?: string }

const run = (text: string, limit: number, style: TextStyle = {}) => ({
  type: 'TextRun',
  text: escapeLiteral(text, limit),
  ...style,
})
const line = (runs: object[], spacing = 'Small') => ({ type: 'RichTextBlock', spacing, inlines: runs })

function buildHeader({ tone, title }: NoticeContent): object {
  return {
    type: 'Container',
    style: STYLES[tone],
    bleed: true,
    items: [line([run(title, MAX_TITLE_LENGTH, { weight: 'Bolder', size: 'Large' })])],
  }
}

/** One block for each line, because a text run cannot have line breaks. */
function buildTextBlocks({ text }: NoticeContent): object[] {
  const lines = truncate(text ?? '', MAX_TEXT_LENGTH).split(/\n+/)
  const shown = [...lines.slice(0, MAX_LINES - 1), lines.slice(MAX_LINES - 1).join(' ')]
  return shown.filter(Boolean).map((text, i) => line([run(text, MAX_TEXT_LENGTH)], i === 0 ? 'Medium' : 'Small'))
}

function buildFactBlocks({ facts }: NoticeContent): object[] {
  return facts.map(({ label, value }, i) =>
    line(
      [run(`${label}: `, MAX_VALUE_LENGTH, { weight: 'Bolder' }), run(value, MAX_VALUE_LENGTH)],
      i === 0 ? 'Medium' : 'Small',
    ),
  )
}

function buildChangeBlocks(changes: ChangeLine[], more: number): object[] {
  const lines = changes.map(({ tone, name, status, time, url }) =>
    line([
      run(`${status} `, MAX_VALUE_LENGTH, { weight: 'Bolder', ...(tone !== 'neutral' && { color: toColour(tone) }) }),
      { ...run(name, 100), ...(url && url.length <= 300 && { selectAction: { type: 'Action.OpenUrl', url } }) },
      run(` · ${time}`, MAX_VALUE_LENGTH, { isSubtle: true }),
    ]),
  )
  return [...lines, ...(more > 0 ? [line([run(`and ${more} more`, MAX_VALUE_LENGTH, { isSubtle: true })])] : [])]
}

const toColour = (tone: Tone) => ({ down: 'Attention', degraded: 'Warning', up: 'Good', neutral: 'Default' })[tone]

const buildFooter = ({ at }: NoticeContent) =>
  line([run(`${formatDateTime(at)} · Picket`, 60, { isSubtle: true, size: 'Small' })], 'Medium')

function buildActions({ acknowledge, open }: NoticeContent): object[] {
  const openUrl = (title: string, url: string) => ({ type: 'Action.OpenUrl', title, url })
  return [
    ...(acknowledge ? [openUrl('Acknowledge', acknowledge.url)] : []),
    ...(open ? [openUrl(open.label, open.url)] : []),
  ]
}
