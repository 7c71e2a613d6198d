import { isDeepStrictEqual } from 'node:util'
import type { CheckLiteral } from '../../../alerting/channels/types.ts'
import { toStoredOverrides } from '../../../alerting/routing/rules/dependency-override.ts'
import { replaceOverrides } from '../../../alerting/routing/rules/dependency-override-store.ts'
import { holdChannels } from '../../../alerting/routing/rules/rule-store.ts'
import { isId, newId } from '../../../foundation/platform/ids.ts'
import { type Db, execute, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { assertRequestVersion } from '../../../foundation/web/conditions/version-actions.ts'
import { conflict, found, notFound, validationError } from '../../../foundation/web/server/errors.ts'
import { isEmptyUpdate } from '../../../foundation/web/validation/empty-update.ts'
import { lockOrCreateFeed, markUnsettled, type StoredFeed } from '../feed-reading/feed-store.ts'
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
 * Tracks a vendor, by its slug in the catalog or by an address. Returns the id of the dependency. Incidents that the
 * vendor has already reported are not announced. Throws 400 for addresses that must not be requested, 404 for an unknown
 * slug or channel, 409 when the project has too many dependencies.
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
    // serialized by the lock, so that concurrent requests cannot exceed the limit
    await execute(tx, 'SELECT 1 FROM projects WHERE id = ? FOR NO KEY UPDATE', [projectId])
    await lockOverriddenChannels(tx, projectId, body)
    if ((await countDependencies(tx, projectId)) >= MAX_DEPENDENCIES) {
      throw conflict(`a project can have at most ${MAX_DEPENDENCIES} dependencies`)
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
 * Updates the properties in the body. After a change of components or feed, incidents that are already reported are not
 * announced, and the incidents of the earlier feed are closed. Throws 404 and 400 as createDependency does, 409 when
 * the dependency was modified meanwhile.
 */
export async function changeDependency(
  { db, checkLiteral }: VendorTools,
  projectId: string,
  id: string,
  body: DependencyUpdate,
  now: Date,
) {
  await db.transaction(async tx => {
    const current = found(isId(id) && (await findDependency(tx, projectId, id)), 'dependency')
    if (isEmptyUpdate(body)) return await assertRequestVersion(tx)
    const feed = await lockOrCreateFeed(
      tx,
      newId(),
      toFeed(assertValid(applyDependencyUpdate(current, body, checkLiteral))),
      now,
    )
    const before = found(await lockDependency(tx, projectId, id), 'dependency')
    await assertRequestVersion(tx)
    if (before.updatedAt.getTime() !== current.updatedAt.getTime())
      throw conflict('the dependency was modified by another request; retry')
    await lockOverriddenChannels(tx, projectId, body)
    if (body.overrides !== undefined) await replaceOverrides(tx, id, toStoredOverrides(id, body.overrides))
    await saveChangedDependency(tx, before, assertValid(applyDependencyUpdate(before, body, checkLiteral)), feed, now)
  })
}

/**
 * Moves dependencies on vendors of the catalog to the feeds that it lists now, because a new release may have new
 * addresses. Any number of processes may do so.
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

/** Stores a changed dependency that the caller has locked. Incidents that are new to it are not announced. */
async function saveChangedDependency(
  tx: Tx,
  before: Dependency,
  tracked: TrackedVendor,
  feed: StoredFeed,
  now: Date,
): Promise<void> {
  const isOtherFeed = feed.id !== before.feedId
  const isNew = isOtherFeed || !isDeepStrictEqual(tracked.components, before.components)
  const isBaselined = before.isBaselined && !isNew
  const dependency = { ...before, ...tracked, feedId: feed.id, isBaselined, updatedAt: now }
  await saveDependency(tx, dependency)
  if (isOtherFeed) await closeIncidents(tx, before.id, now)
  if (isNew) await applyStoredReport(tx, dependency, feed, now)
}

function trackCatalogSlug(slug: string, body: DependencyCreate): TrackedVendorDraft {
  const entry = findCatalogEntry(slug)
  if (entry === null) throw notFound('catalog vendor')
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

/**
 * Applies the stored report of a feed that other dependencies already use. Incidents of components that the dependency no
 * longer tracks are closed by the next reads.
 */
async function applyStoredReport(
  tx: Tx,
  dependency: Dependency,
  { id, report, type }: StoredFeed,
  now: Date,
): Promise<void> {
  if (report === null) return
  const isSettled = await applyReport(tx, [dependency], type, report, now)
  if (!isSettled) await markUnsettled(tx, id)
}
