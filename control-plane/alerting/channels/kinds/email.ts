import { Type } from 'typebox'
import { hasControlCharacter } from '../../../../shared/control-characters.ts'
import { maskSecrets, unmaskSecrets } from '../config/secret-fields.ts'
import { type ChangeLine, toChangeLines, toDigestNotice } from '../notices/digest-notice.ts'
import { toNotice } from '../notices/notice.ts'
import type { NoticeContent } from '../notices/notice-content.ts'
import { renderNoticeHtml } from '../notices/notice-html.ts'
import { renderNoticeText } from '../notices/notice-text.ts'
import { truncate } from '../notices/wording.ts'
import { defineKind, type MailContent, type MailMessage, type RenderContext } from '../types.ts'

const MAX_CHANGES = 200
const MAX_SUBJECT_LENGTH = 200

const Config = Type.Object({
  to: Type.Array(Type.String({ format: 'email', maxLength: 254 }), { minItems: 1, maxItems: 20 }),
})

/** Characters that an address list, a header or an SMTP command could read as a separator, like control characters. */
const SEPARATOR = /[ <>()[\]\\,;:"]/

/** Sends one email to all addresses, as HTML and text. */
export const email = defineKind({
  schema: Config,
  isSigned: false,
  findProblems({ to }) {
    const seen = to.map(address => address.toLowerCase())
    return to.flatMap((address, i) => {
      const path = `config.to[${i}]`
      if (SEPARATOR.test(address) || hasControlCharacter(address))
        return [{ path, message: `${path} must be a plain email address` }]
      return seen.indexOf(address.toLowerCase()) < i ? [{ path, message: `${path} is listed twice` }] : []
    })
  },
  getAddress: ({ to }) => `mailto:${to.join(',')}`,
  getRecipients: ({ to }) => to,
  mask: maskSecrets,
  unmask: (sent, stored) => unmaskSecrets(sent, stored ?? {}, 'config'),
  render: (envelope, { to }, context) =>
    buildMail(to, envelope.delivery_id, toNotice(envelope, context), [], 0, context),
  renderDigest(digest, { to }, context) {
    const { lines, more } = toChangeLines(digest, MAX_CHANGES)
    return buildMail(to, digest.deliveryId, toDigestNotice(digest), lines, more, context)
  },
})

function buildMail(
  to: string[],
  deliveryId: string,
  notice: NoticeContent,
  changes: ChangeLine[],
  more: number,
  { publicUrl }: RenderContext,
): MailMessage {
  const host = new URL(publicUrl).hostname
  const content: MailContent = {
    subject: truncate(notice.title, MAX_SUBJECT_LENGTH),
    // the same in every attempt, so that mail programs show an email once if its acceptance was not confirmed
    message_id: `<${deliveryId}@${host}>`,
    references: [`<${notice.topic.replace(':', '.')}@${host}>`],
    date: notice.at,
    text: renderNoticeText(notice, changes, more),
    html: renderNoticeHtml(notice, changes, more),
  }
  const body = Buffer.from(JSON.stringify(content))
  return { via: 'mail', to, url: `mailto:${to.map(encodeURI).join(',')}`, headers: {}, body }
}
