import type { Log } from '../../../shared/process/log.ts'
import { routeEvents } from '../../alerting/routing/publishing/publish-actions.ts'
import {
  type Db,
  isLockTimeout,
  isTenantError,
  setLockTimeout,
  type Tx,
} from '../../foundation/platform/postgres/client.ts'
import { reviewSilence } from './decisions.ts'
import { loadEventsToSend } from './sent-events-store.ts'
import {
  deleteSilences,
  listDueSilences,
  loadSuppressionContexts,
  lockDueMonitors,
  lockSilences,
  postponeReview,
  storeOutageCauses,
  storeSilences,
} from './store.ts'
import { listPendingNotifications, type PendingNotification } from './suppressed.ts'

/** How long a review waits for rows that another transaction has locked, such as those of an incident. */
const LOCK_TIMEOUT_MS = 250
/** When a silence is reviewed again whose rows were locked, and one whose review failed. */
const LOCKED_DELAY_MS = 1_000
const FAILED_DELAY_MS = 60_000

type ReviewTools = { db: Db; log: Log }

/**
 * Reviews up to `limit` silences that are due (docs/design/suppression.md#reviews). Any number of processes may run it.
 * After an error caused by the rows of one tenant, the silences are reviewed in halves, so that only the one with the
 * error is postponed. Returns the number of reviewed and postponed silences.
 */
export async function reviewDueSilences(tools: ReviewTools, limit: number, now: Date): Promise<number> {
  return reviewIsolated(tools, await listDueSilences(tools.db, now, limit), now)
}

async function reviewIsolated({ db, log }: ReviewTools, ids: string[], now: Date): Promise<number> {
  if (ids.length === 0) return 0
  try {
    return await db.transaction(tx => review(tx, ids, now))
  } catch (err) {
    if (!isTenantError(err)) throw err
    if (ids.length > 1) {
      const half = Math.ceil(ids.length / 2)
      const first = await reviewIsolated({ db, log }, ids.slice(0, half), now)
      return first + (await reviewIsolated({ db, log }, ids.slice(half), now))
    }
    const isLocked = isLockTimeout(err)
    if (!isLocked)
      log.error({ err, monitorId: ids[0] }, 'cannot review the withheld alerts of a monitor; retrying later')
    return postponeReview(db, ids[0]!, new Date(now.getTime() + (isLocked ? LOCKED_DELAY_MS : FAILED_DELAY_MS)))
  }
}

/**
 * Reviews those of the silences that are due, in one transaction:
 *
 * 1. Lock the monitors, and skip those that another transaction holds.
 * 2. Lock the silences; load maintenance and ancestors.
 * 3. Store the silences that still have a reason, with their next review.
 * 4. Store causes that have become known.
 * 5. Delete the other silences and send their pending notifications.
 */
async function review(tx: Tx, monitorIds: string[], now: Date): Promise<number> {
  await setLockTimeout(tx, LOCK_TIMEOUT_MS)
  const monitors = await lockDueMonitors(tx, monitorIds, now)
  const ids = monitors.map(({ id }) => id)
  if (ids.length === 0) return 0
  const silences = await lockSilences(tx, ids)
  const contexts = await loadSuppressionContexts(tx, ids, now)
  const reviewed = monitors.flatMap(monitor => {
    const silence = silences.get(monitor.id)
    return silence ? [{ ...reviewSilence(silence, monitor, contexts(monitor.id), now), before: silence }] : []
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
}

async function sendNotifications(tx: Tx, due: PendingNotification[], now: Date): Promise<void> {
  await routeEvents(tx, await loadEventsToSend(tx, due), now)
}
