import { isDeepStrictEqual } from 'node:util'
import type { CheckLiteral } from '../../../alerting/channels/types.ts'
import { toStoredOverrides } from '../../../alerting/routing/rules/dependency-override.ts'
import { replaceOverrides } from '../../../alerting/routing/rules/dependency-override-store.ts'
import { holdChannels } from '../../../alerting/routing/rules/rule-store.ts'
import { isId, newId } from '../../../foundation/platform/ids.ts'
import { type Db, execute, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { conflict, notFound, validationError } from '../../../foundation/web/server/errors.ts'
import { isEmptyUpdate } from '../../../foundation/web/validation/empty-update.ts'
import { lockOrCreateFeed, type StoredFeed } from '../feed-reading/feed-store.ts'
import { computeFeedKey } from '../feeds/index.ts'
import { closeIncidents } from '../incidents/incident-store.ts'
import { applyReport } from '../incidents/report-actions.ts'
import type { Dependency } from '../types.ts'
import { findCatalogEntry } from './catalog.ts'
import {
  countDependencies,
  findDependency,
  listCatalogDependencies,
  lockDependency,
  saveDependency,
} from './dependency-store.ts'
import type { DependencyCreate, DependencyUpdate } from './schema.ts'
import {
  applyDependencyUpdate,
  type TrackedVendor,
  type TrackedVendorDraft,
  trackCatalogEntry,
  trackOwnAddress,
} from './tracked-vendor.ts'

export type VendorTools = { db: Db; checkLiteral: CheckLiteral }

const MAX_DEPENDENCIES = 200

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
  const tracked = assertValid(
    body.slug === undefined ? trackOwnAddress(body, checkLiteral) : trackCatalogSlug(body.slug, body),
  )
  const id = newId()
  await db.transaction(async tx => {
    const feed = await lockOrCreateFeed(tx, newId(), toFeed(tracked), now)
    // one at a time, so that two at once cannot pass the limit
    await execute(tx, 'SELECT 1 FROM projects WHERE id = ? FOR NO KEY UPDATE', [projectId])
    await lockOverriddenChannels(tx, projectId, body)
    if ((await countDependencies(tx, projectId)) >= MAX_DEPENDENCIES) {
      throw conflict(`a project tracks at most ${MAX_DEPENDENCIES} dependencies`)
    }
    const times = { createdAt: now, updatedAt: now }
    const dependency = { id, projectId, feedId: feed.id, isBaselined: false, ...tracked, ...times }
    await saveDependency(tx, dependency)
    await replaceOverrides(tx, id, toStoredOverrides(id, body.overrides ?? []))
    await applyStoredReport(tx, dependency, feed, now)
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
    if (isEmptyUpdate(body)) return
    const feed = await lockOrCreateFeed(
      tx,
      newId(),
      toFeed(assertValid(applyDependencyUpdate(found, body, checkLiteral))),
      now,
    )
    const before = await lockDependency(tx, projectId, id)
    if (!before) throw notFound('dependency')
    if (before.updatedAt.getTime() !== found.updatedAt.getTime())
      throw conflict('somebody else changes this dependency')
    await lockOverriddenChannels(tx, projectId, body)
    if (body.overrides !== undefined) await replaceOverrides(tx, id, toStoredOverrides(id, body.overrides))
    await saveChangedDependency(tx, before, assertValid(applyDependencyUpdate(before, body, checkLiteral)), feed, now)
  })
}

/**
 * Brings dependencies on vendors of the catalogue to the feeds that it names now: vendors move, and a new release knows
 * where to. Any number of processes may do so.
 */
export async function syncCatalogFeeds(db: Db, now: Date): Promise<void> {
  for (const { projectId, id } of (await listCatalogDependencies(db)).filter(hasFeedMoved)) {
    await db.transaction(async tx => {
      const found = await findDependency(tx, projectId, id)
      const entry = findCatalogEntry(found?.slug ?? '')
      if (!entry) return
      const feed = await lockOrCreateFeed(tx, newId(), toFeed(entry), now)
      const before = await lockDependency(tx, projectId, id)
      if (before?.slug !== entry.slug) return
      const { statusUrl, feedUrl, feedType, feedMapping } = entry
      await saveChangedDependency(tx, before, { ...before, statusUrl, feedUrl, feedType, feedMapping }, feed, now)
    })
  }
}

function hasFeedMoved(dependency: Dependency): boolean {
  const entry = findCatalogEntry(dependency.slug ?? '')
  return entry !== null && computeFeedKey(toFeed(entry)) !== computeFeedKey(toFeed(dependency))
}

/** Stores what became of a locked dependency. What is new about it is met as it is, and told to nobody. */
async function saveChangedDependency(
  tx: Tx,
  before: Dependency,
  tracked: TrackedVendor,
  feed: StoredFeed,
  now: Date,
): Promise<void> {
  const isOther = feed.id !== before.feedId
  const isNew = isOther || !isDeepStrictEqual(tracked.components, before.components)
  const isBaselined = before.isBaselined && !isNew
  const dependency = { ...before, ...tracked, feedId: feed.id, isBaselined, updatedAt: now }
  await saveDependency(tx, dependency)
  if (isOther) await closeIncidents(tx, before.id, now)
  if (isNew) await applyStoredReport(tx, dependency, feed, now)
}

function trackCatalogSlug(slug: string, body: DependencyCreate): TrackedVendorDraft {
  const entry = findCatalogEntry(slug)
  if (entry === null) throw notFound('vendor of the catalogue')
  return trackCatalogEntry(entry, body)
}

function assertValid({ tracked, problems }: TrackedVendorDraft): TrackedVendor {
  if (problems.length > 0) throw validationError(problems)
  return tracked
}

const toFeed = ({ feedUrl, feedType, feedMapping }: Pick<TrackedVendor, 'feedUrl' | 'feedType' | 'feedMapping'>) => ({
  url: feedUrl,
  type: feedType,
  mapping: feedMapping,
})

async function lockOverriddenChannels(tx: Tx, projectId: string, { overrides = [] }: DependencyUpdate): Promise<void> {
  const ids = overrides.map(({ alert_channel_id }) => alert_channel_id)
  if (!ids.every(isId) || !(await holdChannels(tx, projectId, ids))) throw notFound('channel')
}

/** What others who follow the feed know already. */
async function applyStoredReport(
  tx: Tx,
  dependency: Dependency,
  { report, type }: StoredFeed,
  now: Date,
): Promise<void> {
  if (report !== null) await applyReport(tx, [dependency], type, report, now)
}
