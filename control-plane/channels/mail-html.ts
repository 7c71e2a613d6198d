import { MAIL_BLUE, MAIL_BREAK, mailBadge, mailButton, mailPage } from '../web/mail-html.ts'
import { escapeHtml } from '../web/markup.ts'
import type { ChangeLine } from './digest-notice.ts'
import type { MailFooter, Notice, Tone } from './notice.ts'
import { moment } from './wording.ts'

const OURS: MailFooter = { by: 'Picket', link: null }

/** Strong enough for white letters on them, and to stand on white and on near black. */
const COLOURS: Record<Tone, string> = { down: '#d92d20', degraded: '#b54708', up: '#067647', neutral: MAIL_BLUE }

/** A notice as the HTML of a mail. */
export function mailHtml(notice: Notice, changes: ChangeLine[], more: number, footer: MailFooter = OURS): string {
  const colour = COLOURS[notice.tone]
  return mailPage({
    title: notice.title,
    badge: notice.badge,
    colour,
    preview: previewOf(notice),
    paragraphs: notice.text === null ? [] : [notice.text],
    rows: [factsOf(notice), changesOf(changes, more), buttonsOf(notice, colour)],
    footer: `${moment(notice.at)} · ${footerOf(footer)}`,
  })
}

function footerOf({ by, link }: MailFooter): string {
  if (link === null) return `sent by ${escapeHtml(by)}`
  return `sent by ${escapeHtml(by)} · <a class="soft" href="${escapeHtml(link.url)}" style="color:#667085">${escapeHtml(link.label)}</a>`
}

const previewOf = ({ text, facts }: Notice) => text ?? facts.map(({ label, value }) => `${label}: ${value}`).join(' · ')

function factsOf({ facts }: Notice): string {
  if (facts.length === 0) return ''
  const lines = facts.map(
    ({ label, value }) => `<tr>
<td class="soft label" valign="top" style="padding:5px 16px 5px 0;white-space:nowrap;color:#667085">${escapeHtml(label)}</td>
<td class="text" width="100%" valign="top" style="padding:5px 0;color:#344054;${MAIL_BREAK}">${escapeHtml(value)}</td>
</tr>`,
  )
  return table(lines)
}

function changesOf(changes: ChangeLine[], more: number): string {
  if (changes.length === 0) return ''
  const lines = changes.map(({ tone, name, status, time, url }) => {
    const label = escapeHtml(name)
    const link = url === null ? label : `<a class="strong" href="${escapeHtml(url)}" style="color:#101828">${label}</a>`
    return `<tr>
<td valign="top" style="padding:5px 12px 5px 0">${mailBadge(status, COLOURS[tone])}</td>
<td class="text" width="100%" valign="top" style="padding:5px 0;color:#344054;${MAIL_BREAK}">${link}</td>
<td class="soft" valign="top" style="padding:5px 0 5px 12px;white-space:nowrap;color:#667085">${time}</td>
</tr>`
  })
  const rest =
    more > 0 ? [`<tr><td colspan="3" class="soft" style="padding:5px 0;color:#667085">and ${more} more</td></tr>`] : []
  return table([...lines, ...rest])
}

const table = (lines: string[]) =>
  `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="font-size:15px;line-height:22px">
${lines.join('\n')}
</table>`

function buttonsOf({ acknowledge, open }: Notice, colour: string): string {
  return [
    ...(open ? [mailButton(open, colour)] : []),
    ...(acknowledge ? [mailButton({ ...acknowledge, label: 'Acknowledge' }, null)] : []),
  ].join('\n')
}
