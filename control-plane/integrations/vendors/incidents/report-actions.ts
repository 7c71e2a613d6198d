import { groupBy } from '../../../../shared/group-by.ts'
import { publishEvents } from '../../../alerting/routing/publishing/publish-actions.ts'
import { newId } from '../../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
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
/** Of closed incidents, a dependency. */
const MAX_CLOSED_INCIDENTS = 200

/**
 * Brings all dependencies on a feed to what it says, some in each transaction, with their incidents, events and
 * deliveries; the last one notes the report. So whoever begins to follow the feed meanwhile is either among them or finds
 * the new report. False when somebody else has claimed the feed. What was done before a process died is found done.
 */
export async function applyFeedRead(db: Db, feed: StoredFeed, read: FeedRead, now: Date): Promise<boolean> {
  let isSettled = true
  for (let after = NO_ID; ; ) {
    const last = await db.transaction(async tx => {
      if (!(await lockFeedClaim(tx, feed))) return null
      const dependencies = await lockFeedDependencies(tx, feed.id, after, BATCH_SIZE)
      isSettled = (await applyReport(tx, dependencies, feed.type, read.report, now)) && isSettled
      if (dependencies.length === BATCH_SIZE) return dependencies.at(-1)!.id
      // one that came to the feed behind our back is met when all are looked at once more
      const isComplete = after === NO_ID || read.digest === feed.digest
      await storeRead(tx, feed, { ...read, isSettled: isSettled && isComplete })
      return DONE
    })
    if (last === null) return false
    if (last === DONE) return true
    after = last
  }
}

/** The same for some dependencies, whose rows the caller has locked or made. Answers whether nothing is left waiting. */
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
  const told = await countNotifications(tx, ids, hourAgo)
  const followed = dependencies.map(dependency => {
    const budget = MAX_NOTIFICATIONS_PER_HOUR - (told.get(dependency.id) ?? 0)
    const circumstances = { patience: MISSING_READS_BEFORE_CLOSE[type], budget, now, newId }
    return { dependency, ...computeReportEffects(dependency, known.get(dependency.id) ?? [], report, circumstances) }
  })
  const incidents = followed.flatMap(one => one.incidents)
  await saveIncidents(tx, incidents)
  await markBaselined(
    tx,
    dependencies.filter(({ isBaselined }) => !isBaselined).map(({ id }) => id),
  )
  const grown = new Set(incidents.filter(({ createdAt }) => createdAt === now).map(({ dependencyId }) => dependencyId))
  if (grown.size > 0) await deleteOldIncidents(tx, [...grown], MAX_CLOSED_INCIDENTS, hourAgo)
  const events = followed.flatMap(({ dependency, news }) =>
    news.map(one => buildVendorEvent(newId(), dependency, one, now)),
  )
  if (events.length > 0) await publishEvents(tx, events, now)
  return followed.every(one => one.isSettled)
}
