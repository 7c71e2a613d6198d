import { newId } from '../../../foundation/platform/ids.ts'
import { jetstreamNowMs, type Nats } from '../../../foundation/platform/nats/client.ts'
import { buildHints, type HintInput } from './hints.ts'

/** Publishes hints for probes and fleet. They may be lost. */
export function publishHints(nats: Nats, input: HintInput): void {
  for (const { subject, body } of buildHints(input, newId, jetstreamNowMs(nats))) {
    nats.connection.publish(subject, JSON.stringify(body))
  }
}
