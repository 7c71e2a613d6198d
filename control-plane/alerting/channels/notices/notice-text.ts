import type { ChangeLine } from './digest-notice.ts'
import type { MailFooter, NoticeContent } from './notice-content.ts'
import { formatDateTime } from './wording.ts'

/** Renders a notice as the plain text of an email. */
export function renderNoticeText(
  notice: NoticeContent,
  changes: ChangeLine[],
  more: number,
  footer?: MailFooter,
): string {
  const { title, text, facts, acknowledge, open, at } = notice
  const width = Math.max(0, ...facts.map(({ label }) => label.length + 2))
  const statusWidth = Math.max(...changes.map(({ status }) => status.length + 2), MIN_STATUS_WIDTH)
  const blocks = [
    title,
    text,
    facts.map(({ label, value }) => `${`${label}:`.padEnd(width)}${value}`).join('\n'),
    [...changes.map(change => formatLine(change, statusWidth)), ...(more > 0 ? [`and ${more} more`] : [])].join('\n'),
    [...(acknowledge ? [`Acknowledge: ${acknowledge.url}`] : []), ...(open ? [`${open.label}: ${open.url}`] : [])].join(
      '\n',
    ),
    // mail programs set apart the signature, which "-- " begins
    `-- \n${formatDateTime(at)}\n${footer?.by ?? 'Picket'}${footer?.link ? `\n${footer.link.label}: ${footer.link.url}` : ''}`,
  ]
  return `${blocks.filter(Boolean).join('\n\n')}\n`
}

/** Enough for "degraded". */
const MIN_STATUS_WIDTH = 10

const formatLine = ({ name, status, time }: ChangeLine, width: number) => `${status.padEnd(width)}${name}  (${time})`
