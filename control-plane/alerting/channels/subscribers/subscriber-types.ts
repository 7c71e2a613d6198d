import type { PageConfirmationData, PageNoticeData } from '../../events/page-event.ts'
import type { ChannelMessage, RenderContext } from '../types.ts'

/** What a subscriber of a status page is to be sent. `at`: ISO 8601 UTC, when the bytes are made. */
export type PageMessage = { deliveryId: string; at: string } & (
  | { name: 'page.notice'; data: PageNoticeData }
  | { name: 'page.confirmation'; data: PageConfirmationData }
)

/** All that the queue has to know of one way in which subscribers are reached. Pure. */
export type SubscriberChannelKind<Config> = {
  /** as the log may keep it */
  mask(config: Config): Config
  render(message: PageMessage, subscriberId: string, config: Config, context: RenderContext): ChannelMessage
}
