import { MAIL_STYLE } from '../../web/mail-style.ts'
import { escapeHtml } from '../../web/markup.ts'

/** A mail about an account. `link.url` holds a secret; `to` is one plain address. */
export type Letter = { to: string; subject: string; paragraphs: string[]; link: { label: string; url: string } }

/** What waits to be mailed: a letter, or that somebody wants a link for the account of an address, if it has one. */
export type Posted = Letter | { resetFor: string }

/** A new account is claimed by the link; one whose address nobody has proven yet is proven by it; another signs in. */
export type Invitation = { url: string; account: 'new' | 'unproven' | 'proven' }

const HOW: Record<Invitation['account'], string> = {
  new: 'Choose a password to sign in. The link works once, for 72 hours.',
  unproven:
    'There is an account for this address already. Choose a password for it, to show that the address is yours; the one before stops working. The link works once, for 72 hours.',
  proven: 'Sign in with the account you have.',
}

/** What somebody is told whom an admin invited. */
export function invitation(to: string, organization: string, { url, account }: Invitation): Letter {
  const name = nameOf(organization)
  return {
    to,
    subject: `You were added to ${name} on Picket`,
    paragraphs: [`You are now a member of ${name} on Picket, which watches whether its services are up.`, HOW[account]],
    link: { label: account === 'proven' ? 'Sign in' : 'Choose a password', url },
  }
}

/** What somebody is told who forgot their password, or for whom somebody else said so. */
export const forgottenPassword = (to: string, url: string): Letter => ({
  to,
  subject: 'Choose a new password for Picket',
  paragraphs: [
    'Somebody, we hope you, asked for a new password. The link works once, for an hour.',
    'If it was not you, do nothing: your password stays as it is.',
  ],
  link: { label: 'Choose a new password', url },
})

/** What somebody is told whose password is another one now. */
export const changedPassword = (to: string, url: string): Letter => ({
  to,
  subject: 'Your password for Picket was changed',
  paragraphs: [
    'Your password was changed just now, and you are signed out everywhere else.',
    'If it was not you, choose a new one at once, and tell an admin of your organization.',
  ],
  link: { label: 'Choose a new password', url },
})

/** Somebody's words in a mail of ours: a line, and no longer than a name. */
const nameOf = (text: string) => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, 100)

export const letterText = ({ paragraphs, link }: Letter): string =>
  [...paragraphs, `${link.label}: ${link.url}`, 'Sent by Picket'].join('\n\n')

/** As mail programs show it: styles in place, dark where the reader's program is dark. */
export function letterHtml({ subject, paragraphs, link }: Letter): string {
  const lines = paragraphs.map(
    text =>
      `<p class="text" style="margin:12px 0 0;font-size:16px;line-height:24px;color:#344054">${escapeHtml(text)}</p>`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(subject)}</title>
<style>${MAIL_STYLE}</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f2f4f7">
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" style="background:#f2f4f7">
<tr><td align="center" class="around" style="padding:32px 16px">
<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" style="${CARD}">
<tr><td class="inside" style="padding:28px 32px 28px">
<h1 class="strong" style="margin:0;font-size:22px;line-height:30px;font-weight:600;color:#101828">${escapeHtml(subject)}</h1>
${lines.join('\n')}
<p style="margin:24px 0 0"><a class="button" href="${escapeHtml(link.url)}" style="${BUTTON}">${escapeHtml(link.label)}</a></p>
</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`
}

const FONT = "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
const CARD = `max-width:600px;background:#ffffff;border-radius:10px;overflow:hidden;${FONT};text-align:left`
const BUTTON =
  'display:inline-block;padding:10px 20px;border-radius:8px;font-size:15px;line-height:22px;font-weight:600;text-decoration:none;background:#175cd3;color:#ffffff'
