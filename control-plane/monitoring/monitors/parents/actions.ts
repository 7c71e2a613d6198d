import { holdKnownMonitors } from '../../../alerting/routing/rules/rule-actions.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { conflict, validationError } from '../../../foundation/web/server/errors.ts'
import { findCyclicMonitors } from './dependency-cycle.ts'
import {
  listDependencyPairs,
  listParents,
  lockParents,
  type MonitorParents,
  type ParentMonitor,
  replaceParents,
} from './store.ts'

export type ParentTools = {
  db: Db
  /** called in the same transaction: reviews the suppressed events of these monitors */
  review: (tx: Tx, monitorIds: string[], now: Date) => Promise<void>
}

/**
 * Replaces the parents of a monitor. Throws 400 when the monitor is its own parent, 404 for monitors that the project
 * does not have, 409 when a parent depends on this monitor.
 */
export async function changeParents(
  { db, review }: ParentTools,
  projectId: string,
  monitorId: string,
  sentIds: string[],
  now: Date,
): Promise<ParentMonitor[]> {
  const id = monitorId.toLowerCase()
  const parentIds = [...new Set(sentIds.map(sent => sent.toLowerCase()))]
  const ownIndex = parentIds.indexOf(id)
  if (ownIndex !== -1)
    throw validationError([{ path: `parent_ids[${ownIndex}]`, message: 'a monitor cannot depend on itself' }])
  return await db.transaction(async tx => {
    const cyclic = await replaceParentsOfMonitors(tx, review, projectId, [{ monitorId: id, parentIds }], now)
    if (cyclic.has(id)) throw createCycleError()
    return await listParents(tx, id)
  })
}

export const createCycleError = () => conflict('one of these monitors already depends on this monitor')

/**
 * Replaces the parents of several monitors together, so that a parent and its child can be exchanged. Returns the
 * monitors that depend on themselves after that; the caller must refuse this. Throws 404 for monitors that the project
 * does not have.
 */
export async function replaceParentsOfMonitors(
  tx: Tx,
  review: ParentTools['review'],
  projectId: string,
  moved: MonitorParents[],
  now: Date,
): Promise<Set<string>> {
  const ids = moved.map(({ monitorId }) => monitorId)
  await lockParents(tx, projectId)
  const allIds = [...ids, ...moved.flatMap(({ parentIds }) => parentIds)]
  await holdKnownMonitors(tx, projectId, allIds)
  await replaceParents(tx, moved)
  await review(tx, ids, now)
  return findCyclicMonitors(await listDependencyPairs(tx, projectId))
}
