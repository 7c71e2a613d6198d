import { emailSubscriber } from './email-subscriber.ts'
import type { SubscriberChannelKind } from './subscriber-types.ts'
import { webhookSubscriber } from './webhook-subscriber.ts'

/** Kinds of subscribers by the type of their channel. The API does not offer these types. */
const SUBSCRIBER_KINDS = { page_mail: emailSubscriber, page_webhook: webhookSubscriber }
type SubscriberChannelType = keyof typeof SUBSCRIBER_KINDS

export function getSubscriberKind(type: string): SubscriberChannelKind<Record<string, unknown>> {
  return SUBSCRIBER_KINDS[type as SubscriberChannelType] as unknown as SubscriberChannelKind<Record<string, unknown>>
}
