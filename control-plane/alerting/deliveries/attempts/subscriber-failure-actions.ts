import { execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { ChannelMessage } from '../../channels/registry.ts'
import type { DeliveryOutcome } from '../types.ts'
import { countFailures, isAttributable, PAUSE_ADDRESS_AFTER_FAILURES, PAUSE_AFTER_FAILURES } from './failure-count.ts'

export type SubscriberResult = {
  subscriberId: string
  via: ChannelMessage['via']
  outcome: DeliveryOutcome
  succeeded: boolean
}

type SubscriberFailures = { id: string; failures: number }

/** Locks the subscribers whose count may change. Subscribers are locked before their deliveries, as when one is removed. */
export async function lockSubscribers(tx: Tx, ended: SubscriberResult[]): Promise<SubscriberFailures[]> {
  const counting = ended.filter(isCounting)
  if (counting.length === 0) return []
  return query<SubscriberFailures>(
    tx,
    `SELECT id, consecutive_failures AS failures FROM page_subscribers
     WHERE id = ANY (:ids) AND (consecutive_failures > 0 OR id = ANY (:failing)) ORDER BY id FOR NO KEY UPDATE`,
    {
      ids: [...new Set(counting.map(one => one.subscriberId))],
      failing: [...new Set(counting.filter(one => !one.succeeded).map(one => one.subscriberId))],
    },
  )
}

const isCounting = ({ via, outcome }: SubscriberResult) => isAttributable(via, outcome)

/**
 * Counts ended deliveries against subscribers of status pages, as recordChannelResults does for channels. `subscribers`
 * are the result of lockSubscribers. A subscriber with too many failures is paused: pending deliveries become `skipped`,
 * and nothing is sent until the subscriber subscribes again.
 */
export async function recordSubscriberResults(
  tx: Tx,
  subscribers: SubscriberFailures[],
  ended: SubscriberResult[],
  now: Date,
): Promise<void> {
  const counting = ended.filter(isCounting)
  const counted = subscribers.map(({ id, failures }) => {
    const mine = counting.filter(one => one.subscriberId === id)
    const limit = mine[0]?.via === 'mail' ? PAUSE_ADDRESS_AFTER_FAILURES : PAUSE_AFTER_FAILURES
    const count = countFailures(
      failures,
      mine.map(one => one.succeeded),
      limit,
    )
    return { id, failures: count.consecutiveFailures, isPaused: count.pausedReason !== null }
  })
  await storeSubscriberFailures(tx, counted, now)
}

async function storeSubscriberFailures(
  tx: Tx,
  counted: { id: string; failures: number; isPaused: boolean }[],
  now: Date,
): Promise<void> {
  if (counted.length === 0) return
  await execute(
    tx,
    `UPDATE page_subscribers s SET consecutive_failures = r.failures, updated_at = :now,
       paused_at = CASE WHEN r."isPaused" THEN coalesce(s.paused_at, :now) ELSE s.paused_at END
     FROM jsonb_to_recordset(:rows::jsonb) AS r (id uuid, failures integer, "isPaused" boolean) WHERE s.id = r.id`,
    { rows: JSON.stringify(counted), now },
  )
  const paused = counted.filter(one => one.isPaused).map(one => one.id)
  if (paused.length > 0) await skipSubscriberDeliveries(tx, paused, now)
}

/** Skips the pending deliveries of subscribers. Requests in flight end normally. */
async function skipSubscriberDeliveries(tx: Tx, subscriberIds: string[], now: Date): Promise<void> {
  await execute(
    tx,
    `UPDATE deliveries SET status = 'skipped', next_attempt_at = NULL, updated_at = :now
     WHERE subscriber_id = ANY (:subscriberIds) AND status = 'pending'`,
    { subscriberIds, now },
  )
}
