import { sanitizeNameForEmail } from '../../../accounts/email/confirmation/address.ts'
import { MASK } from '../../../foundation/web/masked-secrets/header-map.ts'
import { toOneLine } from '../../../foundation/web/validation/visible-text.ts'
import { PAGE_NOTICE } from '../../events/page-event.ts'
import { renderNoticeHtml } from '../notices/notice-html.ts'
import { renderNoticeText } from '../notices/notice-text.ts'
import { toConfirmationNotice, toPageNotice } from '../notices/page-notice.ts'
import { truncate } from '../notices/wording.ts'
import type { MailContent, MailMessage, RenderContext } from '../types.ts'
import { buildConfirmUrl, buildManageUrl } from './subscriber-links.ts'
import type { PageMessage, SubscriberChannelKind } from './subscriber-types.ts'

const MAX_SUBJECT_LENGTH = 200

/** `key` signs the links (subscriber-links.ts). */
type MailSubscriberConfig = { to: string; key: string }

/** Renders one email to one subscriber of a status page. */
export const emailSubscriber: SubscriberChannelKind<MailSubscriberConfig> = {
  mask: ({ to }) => ({ to: maskAddress(to), key: MASK }),
  render(message, subscriberId, config, context) {
    return message.name === PAGE_NOTICE
      ? buildNoticeMail(message, subscriberId, config, context)
      : buildConfirmationMail(message, subscriberId, config, context)
  },
}

/** Masks an address: `b***@example.com`. Owners can still recognize addresses that they know. */
function maskAddress(address: string): string {
  const at = address.lastIndexOf('@')
  return `${address.slice(0, 1)}***${address.slice(at)}`
}

type NamedPageMessage<Name extends PageMessage['name']> = Extract<PageMessage, { name: Name }>

function buildNoticeMail(
  { data, deliveryId }: NamedPageMessage<typeof PAGE_NOTICE>,
  subscriberId: string,
  { to, key }: MailSubscriberConfig,
  { publicUrl }: RenderContext,
): MailMessage {
  const { page } = data
  const { notice, lines } = toPageNotice(data)
  const unsubscribe = buildManageUrl(page.url, { id: subscriberId, key })
  const footer = {
    by: truncate(toOneLine(page.name), MAX_SUBJECT_LENGTH),
    link: { label: 'Unsubscribe or change your subscription', url: unsubscribe },
  }
  const host = new URL(publicUrl).hostname
  const headline = lines.length > 0 ? notice.title : `${notice.badge}: ${notice.title}`
  return buildMail(to, {
    subject: truncate(`[${toOneLine(page.name)}] ${headline}`, MAX_SUBJECT_LENGTH),
    message_id: `<${deliveryId}@${host}>`,
    // contains the page's id, so that two pages that report one incident are two conversations
    references: [`<${notice.topic.replace(':', '.')}.${page.id}@${host}>`],
    date: notice.at,
    unsubscribe_url: unsubscribe,
    text: renderNoticeText(notice, lines, 0, footer),
    html: renderNoticeHtml(notice, lines, 0, footer),
  })
}

function buildConfirmationMail(
  { data, deliveryId, at }: NamedPageMessage<'page.confirmation'>,
  subscriberId: string,
  { to, key }: MailSubscriberConfig,
  { publicUrl }: RenderContext,
): MailMessage {
  const { page, isKnown, expires_at } = data
  const owner = { id: subscriberId, key }
  const notice = toConfirmationNotice(
    data,
    isKnown ? buildManageUrl(page.url, owner) : buildConfirmUrl(page.url, owner, expires_at),
    at,
  )
  // the recipient may not know the page
  const footer = { by: sanitizeNameForEmail(page.name), link: null }
  return buildMail(to, {
    subject: truncate(notice.title, MAX_SUBJECT_LENGTH),
    message_id: `<${deliveryId}@${new URL(publicUrl).hostname}>`,
    references: [],
    date: at,
    text: renderNoticeText(notice, [], 0, footer),
    html: renderNoticeHtml(notice, [], 0, footer),
  })
}

function buildMail(to: string, content: MailContent): MailMessage {
  return {
    via: 'mail',
    to: [to],
    url: `mailto:${encodeURI(to)}`,
    headers: {},
    body: Buffer.from(JSON.stringify(content)),
  }
}
