import { renderMail } from '../../../foundation/web/html/render-mail.tsx'
import type { ChangeLine } from './digest-notice.ts'
import type { MailFooter, NoticeContent } from './notice-content.ts'
import { toMailParts } from './notice-mail.tsx'

/** Renders a notice as the HTML of an email. */
export const renderNoticeHtml = (
  notice: NoticeContent,
  changes: ChangeLine[],
  more: number,
  footer?: MailFooter,
): string => renderMail(toMailParts(notice, changes, more, footer))
