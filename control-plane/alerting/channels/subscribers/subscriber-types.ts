import type { PageConfirmationData, PageNoticeData } from '../../events/page-event.ts'
import type { ChannelMessage, RenderContext } from '../types.ts'

/** A message to a subscriber of a status page. `at`: when the bytes are made, ISO 8601 UTC. */
export type PageMessage = { deliveryId: string; at: string } & (
  | { name: 'page.notice'; data: PageNoticeData }
  | { name: 'page.confirmation'; data: PageConfirmationData }
)

/** A kind of channel to subscribers. Pure. */
export type SubscriberChannelKind<Config> = {
  /** the configuration as the alert log keeps it */
  mask(config: Config): Config
  render(message: PageMessage, subscriberId: string, config: Config, context: RenderContext): ChannelMessage
}
