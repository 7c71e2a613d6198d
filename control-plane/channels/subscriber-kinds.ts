import { pageMail } from './page-mail.ts'
import { pageWebhook } from './page-webhook.ts'
import type { SubscriberKind } from './subscriber-types.ts'

/** By the type of the channel that reaches them: none that the API offers. */
const SUBSCRIBER_KINDS = { page_mail: pageMail, page_webhook: pageWebhook }
export type SubscriberChannelType = keyof typeof SUBSCRIBER_KINDS

export function subscriberKindOf(type: string): SubscriberKind<Record<string, unknown>> {
  return SUBSCRIBER_KINDS[type as SubscriberChannelType] as unknown as SubscriberKind<Record<string, unknown>>
}
