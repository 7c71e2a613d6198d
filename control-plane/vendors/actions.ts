import { isDeepStrictEqual } from 'node:util'
import { overridesOf } from '../alerts/override.ts'
import { replaceOverrides } from '../alerts/override-store.ts'
import { holdChannels } from '../alerts/store.ts'
import type { CheckLiteral } from '../channels/types.ts'
import { isId, newId } from '../platform/ids.ts'
import { type Db, execute, type Tx } from '../platform/postgres.ts'
import { conflict, notFound, validationError } from '../web/errors.ts'
import { namesNothing } from '../web/names-nothing.ts'
import { catalogEntry } from './catalog.ts'
import { holdFeed, type StoredFeed } from './feed-store.ts'
import { feedKey } from './feeds/index.ts'
import { followReport } from './follow-actions.ts'
import { closeIncidents } from './incident-store.ts'
import type { DependencyCreate, DependencyUpdate } from './schema.ts'
import { countDependencies, dependenciesOfCatalog, findDependency, lockDependency, saveDependency } from './store.ts'
import { type Accepted, type Tracked, trackedAfter, trackedOfBody, trackedOfEntry } from './tracked.ts'
import type { Dependency } from './types.ts'

export type VendorTools = { db: Db; checkLiteral: CheckLiteral }

const MOST_DEPENDENCIES = 200

/**
 * Tracks a vendor, of the catalogue by its slug or by an address of its own; answers its id. What it reports already is
 * told to nobody. Throws 400 for addresses that may not be asked, 404 for an unknown slug or channel, 409 when the
 * project tracks enough.
 */
export async function createDependency(
  { db, checkLiteral }: VendorTools,
  projectId: string,
  body: DependencyCreate,
  now: Date,
) {
  const tracked = accepted(body.slug === undefined ? trackedOfBody(body, checkLiteral) : ofCatalog(body.slug, body))
  const id = newId()
  await db.transaction(async tx => {
    const feed = await holdFeed(tx, newId(), feedOf(tracked), now)
    // one at a time, so that two at once cannot pass the limit
    await execute(tx, 'SELECT 1 FROM projects WHERE id = ? FOR NO KEY UPDATE', [projectId])
    await holdOverridden(tx, projectId, body)
    if ((await countDependencies(tx, projectId)) >= MOST_DEPENDENCIES) {
      throw conflict(`a project tracks at most ${MOST_DEPENDENCIES} dependencies`)
    }
    const times = { createdAt: now, updatedAt: now }
    const dependency = { id, projectId, feedId: feed.id, isBaselined: false, ...tracked, ...times }
    await saveDependency(tx, dependency)
    await replaceOverrides(tx, id, overridesOf(id, body.overrides ?? []))
    await catchUp(tx, dependency, feed, now)
  })
  return id
}

/**
 * Changes what the body names. Other components, or another feed, are met as they are: what is reported there already is
 * told to nobody, and what the feed before reported is closed. Throws 404 and 400 as createDependency does.
 */
export async function changeDependency(
  { db, checkLiteral }: VendorTools,
  projectId: string,
  id: string,
  body: DependencyUpdate,
  now: Date,
) {
  await db.transaction(async tx => {
    const found = isId(id) ? await findDependency(tx, projectId, id) : null
    if (!found) throw notFound('dependency')
    if (namesNothing(body)) return
    const feed = await holdFeed(tx, newId(), feedOf(accepted(trackedAfter(found, body, checkLiteral))), now)
    const before = await lockDependency(tx, projectId, id)
    if (!before) throw notFound('dependency')
    if (before.updatedAt.getTime() !== found.updatedAt.getTime())
      throw conflict('somebody else changes this dependency')
    await holdOverridden(tx, projectId, body)
    if (body.overrides !== undefined) await replaceOverrides(tx, id, overridesOf(id, body.overrides))
    await rewrite(tx, before, accepted(trackedAfter(before, body, checkLiteral)), feed, now)
  })
}

/**
 * Brings dependencies on vendors of the catalogue to the feeds that it names now: vendors move, and a new release knows
 * where to. Any number of processes may do so.
 */
export async function followCatalog(db: Db, now: Date): Promise<void> {
  for (const { projectId, id } of (await dependenciesOfCatalog(db)).filter(isElsewhere)) {
    await db.transaction(async tx => {
      const found = await findDependency(tx, projectId, id)
      const entry = catalogEntry(found?.slug ?? '')
      if (!entry) return
      const feed = await holdFeed(tx, newId(), feedOf(entry), now)
      const before = await lockDependency(tx, projectId, id)
      if (before?.slug !== entry.slug) return
      const { statusUrl, feedUrl, feedType, feedMapping } = entry
      await rewrite(tx, before, { ...before, statusUrl, feedUrl, feedType, feedMapping }, feed, now)
    })
  }
}

function isElsewhere(dependency: Dependency): boolean {
  const entry = catalogEntry(dependency.slug ?? '')
  return entry !== null && feedKey(feedOf(entry)) !== feedKey(feedOf(dependency))
}

/** Stores what became of a locked dependency. What is new about it is met as it is, and told to nobody. */
async function rewrite(tx: Tx, before: Dependency, tracked: Tracked, feed: StoredFeed, now: Date): Promise<void> {
  const isOther = feed.id !== before.feedId
  const isNew = isOther || !isDeepStrictEqual(tracked.components, before.components)
  const isBaselined = before.isBaselined && !isNew
  const dependency = { ...before, ...tracked, feedId: feed.id, isBaselined, updatedAt: now }
  await saveDependency(tx, dependency)
  if (isOther) await closeIncidents(tx, before.id, now)
  if (isNew) await catchUp(tx, dependency, feed, now)
}

function ofCatalog(slug: string, body: DependencyCreate): Accepted {
  const entry = catalogEntry(slug)
  if (entry === null) throw notFound('vendor of the catalogue')
  return trackedOfEntry(entry, body)
}

function accepted({ tracked, problems }: Accepted): Tracked {
  if (problems.length > 0) throw validationError(problems)
  return tracked
}

const feedOf = ({ feedUrl, feedType, feedMapping }: Pick<Tracked, 'feedUrl' | 'feedType' | 'feedMapping'>) => ({
  url: feedUrl,
  type: feedType,
  mapping: feedMapping,
})

async function holdOverridden(tx: Tx, projectId: string, { overrides = [] }: DependencyUpdate): Promise<void> {
  const ids = overrides.map(({ alert_channel_id }) => alert_channel_id)
  if (!ids.every(isId) || !(await holdChannels(tx, projectId, ids))) throw notFound('channel')
}

/** What others who follow the feed know already. */
async function catchUp(tx: Tx, dependency: Dependency, { report, type }: StoredFeed, now: Date): Promise<void> {
  if (report !== null) await followReport(tx, [dependency], type, report, now)
}
