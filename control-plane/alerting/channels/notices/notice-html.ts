import { escapeHtml } from '../../../foundation/web/html/escape.ts'
import {
  MAIL_BLUE,
  MAIL_WORD_BREAK,
  renderMail,
  renderMailBadge,
  renderMailButton,
} from '../../../foundation/web/html/mail-layout.ts'
import type { ChangeLine } from './digest-notice.ts'
import type { MailFooter, NoticeContent, Tone } from './notice-content.ts'
import { formatDateTime } from './wording.ts'

const DEFAULT_FOOTER: MailFooter = { by: 'Picket', link: null }

/** Enough contrast for white text on them, and on white and dark backgrounds. */
const COLOURS: Record<Tone, string> = { down: '#d92d20', degraded: '#b54708', up: '#067647', neutral: MAIL_BLUE }

/** Renders a notice as the HTML of an email. */
export function renderNoticeHtml(
  notice: NoticeContent,
  changes: ChangeLine[],
  more: number,
  footer: MailFooter = DEFAULT_FOOTER,
): string {
  const colour = COLOURS[notice.tone]
  return renderMail({
    title: notice.title,
    badge: notice.badge,
    colour,
    preview: buildPreview(notice),
    paragraphs: notice.text === null ? [] : [notice.text],
    rows: [renderFacts(notice), renderChanges(changes, more), renderButtons(notice, colour)],
    footer: `${formatDateTime(notice.at)} · ${renderFooter(footer)}`,
  })
}

function renderFooter({ by, link }: MailFooter): string {
  if (link === null) return `sent by ${escapeHtml(by)}`
  return `sent by ${escapeHtml(by)} · <a class="soft" href="${escapeHtml(link.url)}" style="color:#667085">${escapeHtml(link.label)}</a>`
}

const buildPreview = ({ text, facts }: NoticeContent) =>
  text ?? facts.map(({ label, value }) => `${label}: ${value}`).join(' · ')

function renderFacts({ facts }: NoticeContent): string {
  if (facts.length === 0) return ''
  const lines = facts.map(
    ({ label, value }) => `<tr>
<td class="soft label" valign="top" style="padding:5px 16px 5px 0;white-space:nowrap;color:#667085">${escapeHtml(label)}</td>
<td class="text" width="100%" valign="top" style="padding:5px 0;color:#344054;${MAIL_WORD_BREAK}">${escapeHtml(value)}</td>
</tr>`,
  )
  return renderTable(lines)
}

function renderChanges(changes: ChangeLine[], more: number): string {
  if (changes.length === 0) return ''
  const lines = changes.map(({ tone, name, status, time, url }) => {
    const label = escapeHtml(name)
    const link = url === null ? label : `<a class="strong" href="${escapeHtml(url)}" style="color:#101828">${label}</a>`
    return `<tr>
<td valign="top" style="padding:5px 12px 5px 0">${renderMailBadge(status, COLOURS[tone])}</td>
<td class="text" width="100%" valign="top" style="padding:5px 0;color:#344054;${MAIL_WORD_BREAK}">${link}</td>
<td class="soft" valign="top" style="padding:5px 0 5px 12px;white-space:nowrap;color:#667085">${time}</td>
</tr>`
  })
  const rest =
    more > 0 ? [`<tr><td colspan="3" class="soft" style="padding:5px 0;color:#667085">and ${more} more</td></tr>`] : []
  return renderTable([...lines, ...rest])
}

const renderTable = (lines: string[]) =>
  `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="font-size:15px;line-height:22px">
${lines.join('\n')}
</table>`

function renderButtons({ acknowledge, open }: NoticeContent, colour: string): string {
  return [
    ...(open ? [renderMailButton(open, colour)] : []),
    ...(acknowledge ? [renderMailButton({ ...acknowledge, label: 'Acknowledge' }, null)] : []),
  ].join('\n')
}
