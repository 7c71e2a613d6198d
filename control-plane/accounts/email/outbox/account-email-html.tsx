import { MAIL_BLUE, MailButton, renderMail } from '../../../foundation/web/html/mail-layout.tsx'
import type { AccountEmail } from './account-email.ts'

export const renderEmailHtml = ({ subject, paragraphs, link }: AccountEmail): string =>
  renderMail({
    ...{ title: subject, badge: null, colour: MAIL_BLUE, preview: paragraphs.join(' '), paragraphs },
    rows: [<MailButton {...link} colour={MAIL_BLUE} />],
    footer: 'Sent by Picket',
  })
