import { newId } from '../platform/ids.ts'
import { logNowMs, type Nats } from '../platform/nats.ts'
import { hintsOf, type News } from './hints.ts'

/** Publishes hints for probes and fleet; safe to lose. */
export function publishHints(nats: Nats, news: News): void {
  for (const { subject, body } of hintsOf(news, newId, logNowMs(nats))) {
    nats.connection.publish(subject, JSON.stringify(body))
  }
}
