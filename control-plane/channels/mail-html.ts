import { MAIL_STYLE } from '../web/mail-style.ts'
import { escapeHtml } from '../web/markup.ts'
import type { ChangeLine } from './digest-notice.ts'
import type { MailFooter, Notice, Tone } from './notice.ts'
import { moment } from './wording.ts'

const OURS: MailFooter = { by: 'Picket', link: null }

/** Strong enough for white letters on them, and to stand on white and on near black. */
const COLOURS: Record<Tone, string> = { down: '#d92d20', degraded: '#b54708', up: '#067647', neutral: '#175cd3' }

/** A notice as HTML that mail programs show: tables, styles in place, dark where the reader's program is dark. */
export function mailHtml(notice: Notice, changes: ChangeLine[], more: number, footer: MailFooter = OURS): string {
  const colour = COLOURS[notice.tone]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(notice.title)}</title>
<style>${MAIL_STYLE}</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f2f4f7">
<div style="display:none;max-height:0;overflow:hidden">${escapeHtml(previewOf(notice))}</div>
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" style="background:#f2f4f7">
<tr><td align="center" class="around" style="padding:32px 16px">
<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" style="${CARD}">
<tr><td height="6" style="height:6px;line-height:6px;font-size:0;background:${colour}">&nbsp;</td></tr>
<tr><td class="inside" style="padding:28px 32px 8px">
<span style="${BADGE};background:${colour}">${escapeHtml(notice.badge)}</span>
<h1 class="strong" style="margin:14px 0 0;font-size:22px;line-height:30px;font-weight:600;color:#101828;${BREAK}">${escapeHtml(notice.title)}</h1>
${textOf(notice)}</td></tr>
${rows(factsOf(notice))}${rows(changesOf(changes, more))}${rows(buttonsOf(notice, colour))}<tr><td class="inside line soft" style="padding:16px 32px 20px;border-top:1px solid #eaecf0;font-size:13px;line-height:20px;color:#667085">
${moment(notice.at)} · ${footerOf(footer)}
</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`
}

function footerOf({ by, link }: MailFooter): string {
  if (link === null) return `sent by ${escapeHtml(by)}`
  return `sent by ${escapeHtml(by)} · <a class="soft" href="${escapeHtml(link.url)}" style="color:#667085">${escapeHtml(link.label)}</a>`
}

const BREAK = 'overflow-wrap:anywhere;word-break:break-word'
const FONT = "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
const CARD = `max-width:600px;background:#ffffff;border-radius:10px;overflow:hidden;${FONT};text-align:left`
const BADGE =
  'display:inline-block;padding:3px 10px;border-radius:12px;font-size:12px;line-height:18px;font-weight:600;color:#ffffff'

/** A row with room around it, or none when there is nothing in it. */
const rows = (content: string) =>
  content === '' ? '' : `<tr><td class="inside" style="padding:12px 32px 8px">\n${content}\n</td></tr>\n`

const previewOf = ({ text, facts }: Notice) => text ?? facts.map(({ label, value }) => `${label}: ${value}`).join(' · ')

function textOf({ text }: Notice): string {
  if (text === null) return ''
  const lines = escapeHtml(text).replaceAll('\n', '<br>\n')
  return `<p class="text" style="margin:10px 0 0;font-size:16px;line-height:24px;color:#344054;${BREAK}">${lines}</p>\n`
}

function factsOf({ facts }: Notice): string {
  if (facts.length === 0) return ''
  const lines = facts.map(
    ({ label, value }) => `<tr>
<td class="soft label" valign="top" style="padding:5px 16px 5px 0;white-space:nowrap;color:#667085">${escapeHtml(label)}</td>
<td class="text" width="100%" valign="top" style="padding:5px 0;color:#344054;${BREAK}">${escapeHtml(value)}</td>
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
<td valign="top" style="padding:5px 12px 5px 0"><span style="${BADGE};background:${COLOURS[tone]}">${escapeHtml(status)}</span></td>
<td class="text" width="100%" valign="top" style="padding:5px 0;color:#344054;${BREAK}">${link}</td>
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
  const button = (label: string, url: string, style: string, name: string) =>
    `<a class="button ${name}" href="${escapeHtml(url)}" style="${BUTTON};${style}">${escapeHtml(label)}</a>`
  const full = `background:${colour};border:1px solid ${colour};color:#ffffff`
  const plain = 'border:1px solid #d0d5dd;color:#344054'
  return [
    ...(open ? [button(open.label, open.url, full, 'full')] : []),
    ...(acknowledge ? [button('Acknowledge', acknowledge.url, plain, 'plain')] : []),
  ].join('\n')
}

const BUTTON =
  'display:inline-block;margin:4px 8px 12px 0;padding:10px 20px;border-radius:8px;font-size:15px;line-height:22px;font-weight:600;text-decoration:none;text-align:center'
