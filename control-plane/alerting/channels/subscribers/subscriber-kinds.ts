import { emailSubscriber } from './email-subscriber.ts'
import type { SubscriberChannelKind } from './subscriber-types.ts'
import { webhookSubscriber } from './webhook-subscriber.ts'

/** By the type of the channel that reaches them: none that the API offers. */
const SUBSCRIBER_KINDS = { page_mail: emailSubscriber, page_webhook: webhookSubscriber }
export type SubscriberChannelType = keyof typeof SUBSCRIBER_KINDS

export function getSubscriberKind(type: string): SubscriberChannelKind<Record<string, unknown>> {
  return SUBSCRIBER_KINDS[type as SubscriberChannelType] as unknown as SubscriberChannelKind<Record<string, unknown>>
}
