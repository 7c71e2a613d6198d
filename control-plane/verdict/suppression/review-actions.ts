import { routeEvents } from '../../alerting/routing/publishing/publish-actions.ts'
import type { Db, Tx } from '../../foundation/platform/postgres/client.ts'
import { reviewSilence } from './decisions.ts'
import { loadEventsToSend } from './sent-events-store.ts'
import {
  deleteSilences,
  loadSuppressionContexts,
  lockDueMonitors,
  lockSilences,
  storeOutageCauses,
  storeSilences,
} from './store.ts'
import { listPendingNotifications, type PendingNotification } from './suppressed.ts'

/**
 * Reviews up to `limit` silences that are due, in one transaction (docs/design/suppression.md#reviews). Any number of
 * processes may run it. Returns the number of reviewed silences:
 *
 * 1. Lock the monitors of due silences, and skip those that another transaction holds.
 * 2. Lock the silences; load maintenance and ancestors.
 * 3. Store the silences that still have a reason, with their next review.
 * 4. Store causes that have become known.
 * 5. Delete the other silences and send their pending notifications.
 */
export function reviewDueSilences(db: Db, limit: number, now: Date): Promise<number> {
  return db.transaction(async tx => {
    const monitors = await lockDueMonitors(tx, now, limit)
    const ids = monitors.map(({ id }) => id)
    if (ids.length === 0) return 0
    const silences = await lockSilences(tx, ids)
    const contextOf = await loadSuppressionContexts(tx, ids, now)
    const reviewed = monitors.flatMap(monitor => {
      const silence = silences.get(monitor.id)
      return silence ? [{ ...reviewSilence(silence, monitor, contextOf(monitor.id), now), before: silence }] : []
    })
    await storeSilences(
      tx,
      reviewed.flatMap(({ waiting }) => waiting ?? []),
    )
    await storeOutageCauses(
      tx,
      reviewed.flatMap(({ cause }) => cause ?? []),
    )
    const finished = reviewed.filter(({ waiting }) => waiting === null)
    await deleteSilences(
      tx,
      finished.map(({ before }) => before.monitorId),
    )
    await sendNotifications(
      tx,
      finished.flatMap(({ before }) => listPendingNotifications(before.withheld)),
      now,
    )
    return monitors.length
  })
}

async function sendNotifications(tx: Tx, due: PendingNotification[], now: Date): Promise<void> {
  await routeEvents(tx, await loadEventsToSend(tx, due), now)
}
