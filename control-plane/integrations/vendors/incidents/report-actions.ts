import { groupBy } from '../../../../shared/group-by.ts'
import { publishEvents } from '../../../alerting/routing/publishing/publish-actions.ts'
import { newId } from '../../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { CLOCK_TOLERANCE_MS } from '../../../foundation/platform/time/clock.ts'
import { lockFeedDependencies, markBaselined } from '../dependencies/dependency-store.ts'
import { type FeedRead, lockFeedClaim, type StoredFeed, storeRead } from '../feed-reading/feed-store.ts'
import { type FeedType, MISSING_READS_BEFORE_CLOSE } from '../feeds/index.ts'
import type { FeedReport } from '../feeds/report.ts'
import type { Dependency } from '../types.ts'
import { countNotifications, deleteOldIncidents, listKnownIncidents, saveIncidents } from './incident-store.ts'
import { computeReportEffects, MAX_NOTIFICATIONS_PER_HOUR } from './report-changes.ts'
import { buildVendorEvent } from './vendor-event.ts'

const BATCH_SIZE = 100
const NO_ID = '00000000-0000-0000-0000-000000000000'
const DONE = 'done'
const HOUR_MS = 3_600_000
/** For each dependency. */
const MAX_CLOSED_INCIDENTS = 200

/**
 * Applies a report to all dependencies on a feed, 100 in each transaction:
 *
 * 1. Lock the feed. Return false when another process has claimed it.
 * 2. Lock the next dependencies, in the order of ids.
 * 3. Store their incidents, events and deliveries.
 * 4. In the last transaction, store the report and end the claim.
 *
 * A dependency that is added meanwhile is either part of this or reads the new report, because adding it locks the feed.
 * After a crash the report is applied again, and changes nothing for dependencies that are done.
 */
export async function applyFeedRead(db: Db, feed: StoredFeed, read: FeedRead, now: Date): Promise<boolean> {
  let isSettled = true
  for (let after = NO_ID; ; ) {
    const last = await db.transaction(async tx => {
      if (!(await lockFeedClaim(tx, feed))) return null
      const dependencies = await lockFeedDependencies(tx, feed.id, after, BATCH_SIZE)
      isSettled = (await applyReport(tx, dependencies, feed.type, read.report, now)) && isSettled
      if (dependencies.length === BATCH_SIZE) return dependencies.at(-1)!.id
      // a dependency that was added with a smaller id is handled when the report is applied once more
      const isComplete = after === NO_ID || read.digest === feed.digest
      await storeRead(tx, feed, { ...read, isSettled: isSettled && isComplete })
      return DONE
    })
    if (last === null) return false
    if (last === DONE) return true
    after = last
  }
}

/** Applies a report to dependencies that the caller has locked or created. Returns whether no incident waits to be closed. */
export async function applyReport(
  tx: Tx,
  dependencies: Dependency[],
  type: FeedType,
  report: FeedReport,
  now: Date,
): Promise<boolean> {
  if (dependencies.length === 0) return true
  const ids = dependencies.map(({ id }) => id)
  const sourceIds = report.incidents.map(({ id }) => id)
  const known = groupBy(await listKnownIncidents(tx, ids, sourceIds), incident => incident.dependencyId)
  const hourAgo = new Date(now.getTime() - HOUR_MS)
  const announced = await countNotifications(tx, ids, {
    since: hourAgo,
    // later times are from before the clock was set back
    until: new Date(now.getTime() + CLOCK_TOLERANCE_MS),
  })
  const effects = dependencies.map(dependency => {
    const budget = MAX_NOTIFICATIONS_PER_HOUR - (announced.get(dependency.id) ?? 0)
    const context = { missingReadsBeforeClose: MISSING_READS_BEFORE_CLOSE[type], budget, now, newId }
    return { dependency, ...computeReportEffects(dependency, known.get(dependency.id) ?? [], report, context) }
  })
  const incidents = effects.flatMap(effect => effect.incidents)
  await saveIncidents(tx, incidents)
  await markBaselined(
    tx,
    dependencies.filter(({ isBaselined }) => !isBaselined).map(({ id }) => id),
  )
  const withNewIncidents = new Set(
    incidents.filter(({ createdAt }) => createdAt === now).map(({ dependencyId }) => dependencyId),
  )
  if (withNewIncidents.size > 0) await deleteOldIncidents(tx, [...withNewIncidents], MAX_CLOSED_INCIDENTS, hourAgo)
  const events = effects.flatMap(({ dependency, changes }) =>
    changes.map(change => buildVendorEvent(newId(), dependency, change, now)),
  )
  if (events.length > 0) await publishEvents(tx, events, now)
  return effects.every(effect => effect.isSettled)
}
