import { Type } from 'typebox'
import { type ChangeLine, changeLines, digestNotice } from './digest-notice.ts'
import { maskSecrets, unmaskSecrets } from './free-form.ts'
import { mailHtml } from './mail-html.ts'
import { mailText } from './mail-text.ts'
import { type Notice, noticeOf } from './notice.ts'
import { defineKind, type MailContent, type MailMessage, type RenderContext } from './types.ts'
import { cut } from './wording.ts'

const MOST_CHANGES = 200
const SUBJECT_LIMIT = 200

const Config = Type.Object({
  to: Type.Array(Type.String({ format: 'email', maxLength: 254 }), { minItems: 1, maxItems: 20 }),
})

/** What an address list, a header or an SMTP command could read as more than one address. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const UNFIT = /[\x00-\x20\x7f<>()[\]\\,;:"]/

/** One mail to all addresses, as HTML and as text. */
export const email = defineKind({
  schema: Config,
  isSigned: false,
  problems({ to }) {
    const seen = to.map(address => address.toLowerCase())
    return to.flatMap((address, i) => {
      const path = `config.to[${i}]`
      if (UNFIT.test(address)) return [{ path, message: `${path} must be a plain e-mail address` }]
      return seen.indexOf(address.toLowerCase()) < i ? [{ path, message: `${path} is there twice` }] : []
    })
  },
  addressOf: ({ to }) => `mailto:${to.join(',')}`,
  recipientsOf: ({ to }) => to,
  mask: maskSecrets,
  unmask: (sent, stored) => unmaskSecrets(sent, stored ?? {}, 'config'),
  render: (envelope, { to }, context) => mail(to, envelope.delivery_id, noticeOf(envelope, context), [], 0, context),
  renderDigest(digest, { to }, context) {
    const { lines, more } = changeLines(digest, MOST_CHANGES)
    return mail(to, digest.deliveryId, digestNotice(digest), lines, more, context)
  },
})

function mail(
  to: string[],
  deliveryId: string,
  notice: Notice,
  changes: ChangeLine[],
  more: number,
  { publicUrl }: RenderContext,
): MailMessage {
  const host = new URL(publicUrl).hostname
  const content: MailContent = {
    subject: cut(notice.title, SUBJECT_LIMIT),
    // the same in every attempt, so a mail that was taken and not confirmed is shown once
    message_id: `<${deliveryId}@${host}>`,
    references: [`<${notice.topic.replace(':', '.')}@${host}>`],
    date: notice.at,
    text: mailText(notice, changes, more),
    html: mailHtml(notice, changes, more),
  }
  const body = Buffer.from(JSON.stringify(content))
  return { via: 'mail', to, url: `mailto:${to.map(encodeURI).join(',')}`, headers: {}, body }
}
