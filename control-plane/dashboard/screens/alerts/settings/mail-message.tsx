import { toMailParts } from '../../../../alerting/channels/notices/notice-mail.tsx'
import { renderNoticeText } from '../../../../alerting/channels/notices/notice-text.ts'
import { MAIL_STYLE, MailBody } from '../../../../foundation/web/html/mail-layout.tsx'
import { useFrame } from '../../../core/frame-context.ts'
import { Isolated } from '../../../parts/isolated.tsx'
import type { SampleMessage } from './message-content.ts'

/** An email: its subject, how mail programs show it, and its text for programs without HTML. */
export function MailMessage({ message: { notice, changes } }: { message: SampleMessage }) {
  const { isInteractive } = useFrame()
  const layout = toMailParts(notice, changes, 0)
  return (
    <>
      <p class="mail-subject">
        <span class="soft">Subject</span> <strong dir="auto">{notice.title}</strong>
      </p>
      {isInteractive && (
        <Isolated label="The email" sheets={[MAIL_STYLE]} scheme="light">
          <MailBody {...layout} />
        </Isolated>
      )}
      <details class="group" open={!isInteractive}>
        <summary>
          <span class="group-title">The text</span> <span class="soft small">for email programs without HTML</span>
        </summary>
        <pre>{renderNoticeText(notice, changes, 0)}</pre>
      </details>
    </>
  )
}
