import { type Answer, type ReceivedRequest, type Receiver, startReceiver } from '../support/receiver.ts'
import type { Teardown } from '../support/teardown.ts'
import { seededRandom } from './random.ts'

/** A receiver that refuses some first attempts. `accepted`: the requests that it answered 2xx, by delivery id. */
export type ChaosReceiver = { receiver: Receiver; accepted: Map<string, ReceivedRequest[]>; refused: number }

const BAD_SHARE = 0.4
const BAD: Answer[] = [500, 503, 429, 'reset', { status: 500, delayMs: 2_000 }]
export const DELIVERY_ID = 'x-service-delivery'

export async function startChaosReceiver(t: Teardown, seed: number): Promise<ChaosReceiver> {
  const random = seededRandom(seed)
  const receiver = await startReceiver(t)
  const webhook: ChaosReceiver = { receiver, accepted: new Map(), refused: 0 }
  const seen = new Set<string>()
  receiver.always(received => {
    const id = String(received.headers[DELIVERY_ID])
    const isFirst = !seen.has(id)
    seen.add(id)
    if (isFirst && random.chance(BAD_SHARE)) {
      webhook.refused++
      return random.pick(BAD)
    }
    webhook.accepted.set(id, [...(webhook.accepted.get(id) ?? []), received])
    return 200
  })
  return webhook
}
