import { MAIL_BLUE, renderMail, renderMailButton } from '../../../foundation/web/html/mail-layout.ts'
import { sanitizeNameForEmail } from '../confirmation/address.ts'

/** A mail about an account. `link.url` holds a secret; `to` is one plain address. */
export type AccountEmail = { to: string; subject: string; paragraphs: string[]; link: { label: string; url: string } }

/** What waits to be mailed: a letter, or that somebody wants a link for the account of an address, if it has one. */
export type QueuedEmail = AccountEmail | { resetFor: string }

/** A new account is claimed by the link; one whose address nobody has proven yet is proven by it; another signs in. */
export type Invitation = { url: string; account: 'new' | 'unproven' | 'proven' }

const INSTRUCTIONS: Record<Invitation['account'], string> = {
  new: 'Choose a password to sign in. The link works once, for 72 hours.',
  unproven:
    'There is an account for this address already. Choose a password for it, to show that the address is yours; the one before stops working. The link works once, for 72 hours.',
  proven: 'Sign in with the account you have.',
}

/** What somebody is told whom an admin invited. */
export function buildInvitationEmail(to: string, organization: string, { url, account }: Invitation): AccountEmail {
  const name = sanitizeNameForEmail(organization)
  return {
    to,
    subject: `You were added to ${name} on Picket`,
    paragraphs: [
      `You are now a member of ${name} on Picket, which watches whether its services are up.`,
      INSTRUCTIONS[account],
    ],
    link: { label: account === 'proven' ? 'Sign in' : 'Choose a password', url },
  }
}

/** What somebody is told who forgot their password, or for whom somebody else said so. */
export const buildPasswordResetEmail = (to: string, url: string): AccountEmail => ({
  to,
  subject: 'Choose a new password for Picket',
  paragraphs: [
    'Somebody, we hope you, asked for a new password. The link works once, for an hour.',
    'If it was not you, do nothing: your password stays as it is.',
  ],
  link: { label: 'Choose a new password', url },
})

/** What somebody is told whose password is another one now. */
export const buildPasswordChangedEmail = (to: string, url: string): AccountEmail => ({
  to,
  subject: 'Your password for Picket was changed',
  paragraphs: [
    'Your password was changed just now, and you are signed out everywhere else.',
    'If it was not you, choose a new one at once, and tell an admin of your organization.',
  ],
  link: { label: 'Choose a new password', url },
})

/** The question whether a person wants the alerts of an organization: of its words only its name, and only Picket's link. */
export const buildConfirmationEmail = (to: string, organization: string, url: string): AccountEmail => ({
  to,
  subject: 'Confirm that you want alerts from Picket at this address',
  paragraphs: [
    `An organization that calls itself “${sanitizeNameForEmail(organization)}” wants to send alerts of its monitoring to this address: when its services go down or come back, and about its incidents.`,
    'Open the link and confirm if you want them. It works once, for 72 hours. If you do not know them, do nothing: then nothing more is sent.',
  ],
  link: { label: 'See what it is about', url },
})

export const renderEmailText = ({ paragraphs, link }: AccountEmail): string =>
  [...paragraphs, `${link.label}: ${link.url}`, 'Sent by Picket'].join('\n\n')

export const renderEmailHtml = ({ subject, paragraphs, link }: AccountEmail): string =>
  renderMail({
    ...{ title: subject, badge: null, colour: MAIL_BLUE, preview: paragraphs.join(' '), paragraphs },
    rows: [renderMailButton(link, MAIL_BLUE)],
    footer: 'Sent by Picket',
  })
