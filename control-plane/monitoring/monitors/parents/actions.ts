import { holdMonitors } from '../../../alerting/routing/rules/rule-store.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { conflict, notFound, validationError } from '../../../foundation/web/server/errors.ts'
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
  /** called in the same transaction: what was withheld of these monitors is looked at again */
  review: (tx: Tx, monitorIds: string[], now: Date) => Promise<void>
}

/**
 * Says on which monitors a monitor depends; those of before are replaced. Throws 400 for the monitor itself, 404 for
 * monitors that the project does not have, 409 when one of them depends on this one.
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
  const itself = parentIds.indexOf(id)
  if (itself !== -1)
    throw validationError([{ path: `parent_ids[${itself}]`, message: 'a monitor is not its own parent' }])
  if (!isId(id) || !parentIds.every(isId)) throw notFound('monitor')
  return await db.transaction(async tx => {
    const circular = await replaceParentsOfMonitors(tx, review, projectId, [{ monitorId: id, parentIds }], now)
    if (circular.has(id)) throw createCycleError()
    return await listParents(tx, id)
  })
}

export const createCycleError = () => conflict('one of these monitors depends on this one already')

/**
 * Replaces the parents of some monitors at once, so that two may change places. Answers the monitors that depend
 * on themselves then: the caller refuses that. Throws 404 for monitors that the project does not have.
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
  const everybody = [...ids, ...moved.flatMap(({ parentIds }) => parentIds)]
  if (!(await holdMonitors(tx, projectId, everybody))) throw notFound('monitor')
  await replaceParents(tx, moved)
  await review(tx, ids, now)
  return findCyclicMonitors(await listDependencyPairs(tx, projectId))
}
