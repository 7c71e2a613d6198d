import { unlinkedName } from '../accounts/addresses/address.ts'
import { PAGE_NOTICE } from '../events/page-event.ts'
import { MASK } from '../web/header-map.ts'
import { oneLine } from '../web/visible.ts'
import { mailHtml } from './mail-html.ts'
import { mailText } from './mail-text.ts'
import { confirmationNotice, pageNotice } from './page-notice.ts'
import { confirmUrl, manageUrl } from './subscriber-links.ts'
import type { PageMessage, SubscriberKind } from './subscriber-types.ts'
import type { MailContent, MailMessage, RenderContext } from './types.ts'
import { cut } from './wording.ts'

const SUBJECT_LIMIT = 200

/** `key` makes the links (subscriber-links.ts). */
export type MailSubscriberConfig = { to: string; key: string }

/** One mail to one subscriber of a status page. */
export const pageMail: SubscriberKind<MailSubscriberConfig> = {
  mask: ({ to }) => ({ to: maskAddress(to), key: MASK }),
  render(message, subscriberId, config, context) {
    return message.name === PAGE_NOTICE
      ? noticeMail(message, subscriberId, config, context)
      : confirmationMail(message, subscriberId, config, context)
  },
}

/** `b***@example.com`: enough for an owner to know whom they know. */
export function maskAddress(address: string): string {
  const at = address.lastIndexOf('@')
  return `${address.slice(0, 1)}***${address.slice(at)}`
}

type Message<Name extends PageMessage['name']> = Extract<PageMessage, { name: Name }>

function noticeMail(
  { data, deliveryId }: Message<typeof PAGE_NOTICE>,
  subscriberId: string,
  { to, key }: MailSubscriberConfig,
  { publicUrl }: RenderContext,
): MailMessage {
  const { page } = data
  const { notice, lines } = pageNotice(data)
  const unsubscribe = manageUrl(page.url, { id: subscriberId, key })
  const footer = {
    by: cut(oneLine(page.name), SUBJECT_LIMIT),
    link: { label: 'Unsubscribe or change what you hear', url: unsubscribe },
  }
  const host = new URL(publicUrl).hostname
  const said = lines.length > 0 ? notice.title : `${notice.badge}: ${notice.title}`
  return mail(to, {
    subject: cut(`[${oneLine(page.name)}] ${said}`, SUBJECT_LIMIT),
    message_id: `<${deliveryId}@${host}>`,
    // of the page, so that two pages that tell of one incident are two conversations
    references: [`<${notice.topic.replace(':', '.')}.${page.id}@${host}>`],
    date: notice.at,
    unsubscribe_url: unsubscribe,
    text: mailText(notice, lines, 0, footer),
    html: mailHtml(notice, lines, 0, footer),
  })
}

function confirmationMail(
  { data, deliveryId, at }: Message<'page.confirmation'>,
  subscriberId: string,
  { to, key }: MailSubscriberConfig,
  { publicUrl }: RenderContext,
): MailMessage {
  const { page, isKnown, expires_at } = data
  const owner = { id: subscriberId, key }
  const notice = confirmationNotice(
    data,
    isKnown ? manageUrl(page.url, owner) : confirmUrl(page.url, owner, expires_at),
    at,
  )
  // to a person who may not know the page
  const footer = { by: unlinkedName(page.name), link: null }
  return mail(to, {
    subject: cut(notice.title, SUBJECT_LIMIT),
    message_id: `<${deliveryId}@${new URL(publicUrl).hostname}>`,
    references: [],
    date: at,
    text: mailText(notice, [], 0, footer),
    html: mailHtml(notice, [], 0, footer),
  })
}

function mail(to: string, content: MailContent): MailMessage {
  return {
    via: 'mail',
    to: [to],
    url: `mailto:${encodeURI(to)}`,
    headers: {},
    body: Buffer.from(JSON.stringify(content)),
  }
}
