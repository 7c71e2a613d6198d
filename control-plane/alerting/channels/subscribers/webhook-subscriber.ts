import { MASK } from '../../../foundation/web/masked-secrets/header-map.ts'
import { PAGE_NOTICE } from '../../events/page-event.ts'
import { maskUrl } from '../config/masked-url.ts'
import { buildConfirmUrl, buildManageUrl, deriveSigningSecret } from './subscriber-links.ts'
import type { PageMessage, SubscriberChannelKind } from './subscriber-types.ts'

type WebhookSubscriberConfig = { url: string; key: string }

/**
 * Messages to a webhook that is subscribed to a status page, with the same envelope and signatures as the project's own
 * webhooks. The confirmation contains the signing secret and the address that confirms the subscription.
 */
export const webhookSubscriber: SubscriberChannelKind<WebhookSubscriberConfig> = {
  mask: ({ url }) => ({ url: maskUrl(url), key: MASK }),
  render(message, subscriberId, { url, key }) {
    const { name, deliveryId, at } = message
    const envelope = {
      api_version: '1',
      event: name,
      delivery_id: deliveryId,
      delivered_at: at,
      data: buildData(message, { id: subscriberId, key }),
    }
    return {
      via: 'http',
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', 'user-agent': 'Picket-Webhook/1' },
      body: Buffer.from(JSON.stringify(envelope)),
    }
  },
}

function buildData(message: PageMessage, owner: { id: string; key: string }): object {
  const { page } = message.data
  if (message.name === PAGE_NOTICE) {
    return { page, changes: message.data.changes, manage_url: buildManageUrl(page.url, owner) }
  }
  const { isKnown, expires_at } = message.data
  return {
    page,
    signing_secret: deriveSigningSecret(owner),
    manage_url: buildManageUrl(page.url, owner),
    confirm_url: isKnown ? null : buildConfirmUrl(page.url, owner, expires_at),
    expires_at: isKnown ? null : expires_at,
  }
}
