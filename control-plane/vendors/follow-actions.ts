import { groupBy } from '../../shared/group-by.ts'
import { announce } from '../alerts/announce-actions.ts'
import { newId } from '../platform/ids.ts'
import type { Db, Tx } from '../platform/postgres.ts'
import { holdClaim, type NewRead, type StoredFeed, storeRead } from './feed-store.ts'
import { type FeedType, PATIENCE } from './feeds/index.ts'
import type { FeedReport } from './feeds/report.ts'
import { follow, MOST_TOLD_AN_HOUR } from './follow.ts'
import { countTold, forgetIncidents, knownIncidents, saveIncidents } from './incident-store.ts'
import { lockDependenciesOf, markBaselined } from './store.ts'
import type { Dependency } from './types.ts'
import { vendorEvent } from './vendor-event.ts'

const AT_ONCE = 100
const NO_ID = '00000000-0000-0000-0000-000000000000'
const DONE = 'done'
const HOUR_MS = 3_600_000
/** Of closed incidents, a dependency. */
const KEPT = 200

/**
 * Brings all dependencies on a feed to what it says, some in each transaction, with their incidents, events and
 * deliveries; the last one notes the report. So whoever begins to follow the feed meanwhile is either among them or finds
 * the new report. False when somebody else has claimed the feed. What was done before a process died is found done.
 */
export async function followFeed(db: Db, feed: StoredFeed, read: NewRead, now: Date): Promise<boolean> {
  let isSettled = true
  for (let after = NO_ID; ; ) {
    const last = await db.transaction(async tx => {
      if (!(await holdClaim(tx, feed))) return null
      const dependencies = await lockDependenciesOf(tx, feed.id, after, AT_ONCE)
      isSettled = (await followReport(tx, dependencies, feed.type, read.report, now)) && isSettled
      if (dependencies.length === AT_ONCE) return dependencies.at(-1)!.id
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
export async function followReport(
  tx: Tx,
  dependencies: Dependency[],
  type: FeedType,
  report: FeedReport,
  now: Date,
): Promise<boolean> {
  if (dependencies.length === 0) return true
  const ids = dependencies.map(({ id }) => id)
  const sourceIds = report.incidents.map(({ id }) => id)
  const known = groupBy(await knownIncidents(tx, ids, sourceIds), incident => incident.dependencyId)
  const hourAgo = new Date(now.getTime() - HOUR_MS)
  const told = await countTold(tx, ids, hourAgo)
  const followed = dependencies.map(dependency => {
    const budget = MOST_TOLD_AN_HOUR - (told.get(dependency.id) ?? 0)
    const circumstances = { patience: PATIENCE[type], budget, now, newId }
    return { dependency, ...follow(dependency, known.get(dependency.id) ?? [], report, circumstances) }
  })
  const incidents = followed.flatMap(one => one.incidents)
  await saveIncidents(tx, incidents)
  await markBaselined(
    tx,
    dependencies.filter(({ isBaselined }) => !isBaselined).map(({ id }) => id),
  )
  const grown = new Set(incidents.filter(({ createdAt }) => createdAt === now).map(({ dependencyId }) => dependencyId))
  if (grown.size > 0) await forgetIncidents(tx, [...grown], KEPT, hourAgo)
  const events = followed.flatMap(({ dependency, news }) => news.map(one => vendorEvent(newId(), dependency, one, now)))
  if (events.length > 0) await announce(tx, events, now)
  return followed.every(one => one.isSettled)
}
