import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { clearActor, withoutActor } from '../../../foundation/web/auth/audit-actor.ts'
import { conflict } from '../../../foundation/web/server/errors.ts'
import { recordAudit } from '../../audit/actions.ts'
import { lockOrganization } from '../../members/store.ts'
import { leaveOrganization } from '../../sessions/store.ts'
import { getOrganization } from '../actions.ts'
import { isOperatorOrganization, type ListedOrganization, listOrganizationMembers, listProjects } from '../store.ts'
import {
  clearMonitorNames,
  closeOrganization,
  deleteRows,
  findClosedOrganization,
  finishDeletion,
  listDependentTables,
  listRemainingMonitorIds,
  markMonitorsDeleted,
  revokeChatInstallations,
} from './store.ts'

const MONITOR_BATCH_SIZE = 200
const ROW_BATCH_SIZE = 500

/**
 * Deletes an organization with everything in it, or only says what that would be (`isSure` false). It is closed in one
 * short transaction: from then on it cannot be used, and nothing is added to it. Then it is emptied. One that was closed
 * and not yet emptied is emptied. Throws 404, and 409 for the operator's own.
 */
export async function deleteOrganization(db: Db, id: string, isSure: boolean): Promise<ListedOrganization> {
  const closed = isId(id) ? await findClosedOrganization(db, id) : null
  const organization = closed ?? (await closeUnlessDryRun(db, id, isSure))
  if (isSure) await emptyOrganization(withoutActor(db), id)
  return organization
}

async function closeUnlessDryRun(db: Db, id: string, isSure: boolean): Promise<ListedOrganization> {
  return await db.transaction(async tx => {
    // what is being added to it is there before it is closed, and nothing is added after
    if (isId(id)) await lockOrganization(tx, id)
    const organization = await getOrganization(tx, id)
    if (await isOperatorOrganization(tx, id)) throw conflict('this organization is the operator’s own')
    if (!isSure) return organization
    // one row of the log for all of it
    await recordAudit(tx, {
      action: 'deleted',
      resource: 'organization',
      resourceId: id,
      resourceName: organization.name,
      organizationId: id,
    })
    await clearActor(tx)
    const members = await listOrganizationMembers(tx, id)
    await closeOrganization(tx, id, now())
    for (const { id: userId } of members) await leaveOrganization(tx, id, userId)
    return organization
  })
}

/**
 * Empties a closed organization in short transactions of a few rows each, so that other work does not wait for it. It can be
 * stopped at any of them, also by the death of the process, and begun again. True when it is empty; false when it was
 * stopped by `goesOn`, which is asked before each.
 */
export async function emptyOrganization(db: Db, id: string, goesOn = () => true): Promise<boolean> {
  const projectIds = (await listProjects(db, id)).map(project => project.id)
  await revokeChatInstallations(db, projectIds, now())
  const monitorIds = await listRemainingMonitorIds(db, projectIds)
  // checks and alerts end first
  for (const ids of chunks(monitorIds)) {
    if (!goesOn()) return false
    await markMonitorsDeleted(db, ids, now())
  }
  const ofMonitors = await listDependentTables(db, 'monitors')
  for (const ids of chunks(monitorIds)) {
    if ((await deleteAll(db, ofMonitors, ids, goesOn)) === null) return false
    await clearMonitorNames(db, ids)
  }
  const ofProjects = await listDependentTables(db, 'projects')
  for (;;) {
    const deleted = await deleteAll(db, ofProjects, projectIds, goesOn)
    if (deleted === null) return false
    // a request that was under way may have added a row behind us
    if (deleted === 0) break
  }
  await finishDeletion(db, id, now())
  return true
}

/** How many rows there were; null when it was stopped. */
async function deleteAll(
  db: Db,
  hanging: Awaited<ReturnType<typeof listDependentTables>>,
  ids: string[],
  goesOn: () => boolean,
): Promise<number | null> {
  let total = 0
  for (const place of hanging) {
    for (;;) {
      if (!goesOn()) return null
      const deleted = await deleteRows(db, place, ids, ROW_BATCH_SIZE)
      total += deleted
      // not before: another process may be at it too, and take a part of them
      if (deleted === 0) break
    }
  }
  return total
}

const chunks = (ids: string[]) =>
  Array.from({ length: Math.ceil(ids.length / MONITOR_BATCH_SIZE) }, (_, i) =>
    ids.slice(i * MONITOR_BATCH_SIZE, (i + 1) * MONITOR_BATCH_SIZE),
  )
