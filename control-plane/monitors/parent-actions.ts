import { isId } from '../platform/ids.ts'
import type { Db, Tx } from '../platform/postgres.ts'
import { conflict, notFound, validationError } from '../web/errors.ts'
import { isBelow, lockParents, type Parent, parentsOf, replaceParents } from './parent-store.ts'
import { holdMonitors } from './store.ts'

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
): Promise<Parent[]> {
  const id = monitorId.toLowerCase()
  const parentIds = [...new Set(sentIds.map(sent => sent.toLowerCase()))]
  const itself = parentIds.indexOf(id)
  if (itself !== -1)
    throw validationError([{ path: `parent_ids[${itself}]`, message: 'a monitor is not its own parent' }])
  if (!isId(id) || !parentIds.every(isId)) throw notFound('monitor')
  return await db.transaction(async tx => {
    await lockParents(tx, projectId)
    if (!(await holdMonitors(tx, projectId, [id, ...parentIds]))) throw notFound('monitor')
    if (await isBelow(tx, id, parentIds)) throw conflict('one of these monitors depends on this one already')
    await replaceParents(tx, id, parentIds)
    await review(tx, [id], now)
    return await parentsOf(tx, id)
  })
}
