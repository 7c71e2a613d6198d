import { MAIL_BLUE, MailButton } from '../../../foundation/web/html/mail-layout.tsx'
import { renderMail } from '../../../foundation/web/html/render-mail.tsx'
import { sanitizeNameForEmail } from '../confirmation/address.ts'

/** An email about an account. `link.url` contains a secret; `to` is one plain address. */
export type AccountEmail = { to: string; subject: string; paragraphs: string[]; link: { label: string; url: string } }

/** A queued email, or a request for a reset link for an address, which may have no account. */
export type QueuedEmail = AccountEmail | { resetFor: string }

/**
 * An invitation. `url` claims a new account, proves the address of an unproven one, or is the sign-in page for a proven one.
 */
type Invitation = { url: string; account: 'new' | 'unproven' | 'proven' }

const INSTRUCTIONS: Record<Invitation['account'], string> = {
  new: 'Choose a password to sign in. The link works once, for 72 hours.',
  unproven:
    'This address already has an account. Choose a new password for it to confirm that the address is yours; the old password stops working. The link works once, for 72 hours.',
  proven: 'Sign in with your existing account.',
}

export function buildInvitationEmail(to: string, organization: string, { url, account }: Invitation): AccountEmail {
  const name = sanitizeNameForEmail(organization)
  return {
    to,
    subject: `You were added to ${name} on Picket`,
    paragraphs: [`You are now a member of ${name} on Picket, which monitors its services.`, INSTRUCTIONS[account]],
    link: { label: account === 'proven' ? 'Sign in' : 'Choose a password', url },
  }
}

export const buildPasswordResetEmail = (to: string, url: string): AccountEmail => ({
  to,
  subject: 'Choose a new password for Picket',
  paragraphs: [
    'A new password was requested for your account. The link works once, for an hour.',
    'If you did not request it, ignore this email. Your password does not change.',
  ],
  link: { label: 'Choose a new password', url },
})

export const buildPasswordChangedEmail = (to: string, url: string): AccountEmail => ({
  to,
  subject: 'Your password for Picket was changed',
  paragraphs: [
    'Your password was changed, and you were signed out everywhere else.',
    'If you did not change it, choose a new password now and inform an admin of your organization.',
  ],
  link: { label: 'Choose a new password', url },
})

/** Asks whether a person wants alerts of an organization. Of the customer's text it contains only the organization's name. */
export const buildConfirmationEmail = (to: string, organization: string, url: string): AccountEmail => ({
  to,
  subject: 'Confirm that you want alerts from Picket at this address',
  paragraphs: [
    `An organization that calls itself “${sanitizeNameForEmail(organization)}” wants to send alerts of its monitoring to this address: when its services go down or recover, and about its incidents.`,
    'To receive them, open the link and confirm. It works once, for 72 hours. If you do not know this organization, ignore this email. Nothing more will be sent.',
  ],
  link: { label: 'Review the request', url },
})

export const renderEmailText = ({ paragraphs, link }: AccountEmail): string =>
  [...paragraphs, `${link.label}: ${link.url}`, 'Sent by Picket'].join('\n\n')

export const renderEmailHtml = ({ subject, paragraphs, link }: AccountEmail): string =>
  renderMail({
    ...{ title: subject, badge: null, colour: MAIL_BLUE, preview: paragraphs.join(' '), paragraphs },
    rows: [<MailButton {...link} colour={MAIL_BLUE} />],
    footer: 'Sent by Picket',
  })
