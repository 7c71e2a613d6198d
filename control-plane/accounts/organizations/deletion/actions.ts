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
 * Deletes an organization with everything in it, or only returns it (`isSure` false).
 *
 * 1. Close it in one short transaction. From then on it cannot be used, and nothing is added to it.
 * 2. Empty it in short transactions.
 *
 * An organization that is closed but not empty is emptied. Throws 404, and 409 for the operator's own.
 */
export async function deleteOrganization(db: Db, id: string, isSure: boolean): Promise<ListedOrganization> {
  const closed = isId(id) ? await findClosedOrganization(db, id) : null
  const organization = closed ?? (await closeUnlessDryRun(db, id, isSure))
  if (isSure) await emptyOrganization(withoutActor(db), id)
  return organization
}

async function closeUnlessDryRun(db: Db, id: string, isSure: boolean): Promise<ListedOrganization> {
  return await db.transaction(async tx => {
    // rows that are being added exist before the organization is closed; nothing is added later
    if (isId(id)) await lockOrganization(tx, id)
    const organization = await getOrganization(tx, id)
    if (await isOperatorOrganization(tx, id)) throw conflict('the operator’s own organization cannot be deleted')
    if (!isSure) return organization
    // one entry in the audit log for everything
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
 * Empties a closed organization in short transactions of a few rows each, so that other work does not wait. It can be
 * interrupted between them, also by the end of the process, and run again. Returns true when the organization is empty, and false
 * when `shouldContinue`, which is called before each transaction, returned false.
 */
export async function emptyOrganization(db: Db, id: string, shouldContinue = () => true): Promise<boolean> {
  const projectIds = (await listProjects(db, id)).map(project => project.id)
  await revokeChatInstallations(db, projectIds, now())
  for (;;) {
    const monitorIds = await listRemainingMonitorIds(db, projectIds)
    if (!(await emptyMonitors(db, monitorIds, shouldContinue))) return false
    const deleted = await deleteAll(db, await listDependentTables(db, 'projects'), projectIds, shouldContinue)
    if (deleted === null) return false
    // work in progress, also of the version before, may have added a monitor, or a row to an emptied table
    if (monitorIds.length === 0 && deleted === 0) break
  }
  await finishDeletion(db, id, now())
  return true
}

/** Deletes monitors with their dependent rows. Returns false when it was stopped. */
async function emptyMonitors(db: Db, monitorIds: string[], shouldContinue: () => boolean): Promise<boolean> {
  // checks and alerts end first
  for (const ids of chunks(monitorIds)) {
    if (!shouldContinue()) return false
    await markMonitorsDeleted(db, ids, now())
  }
  const tables = await listDependentTables(db, 'monitors')
  for (const ids of chunks(monitorIds)) {
    if ((await deleteAll(db, tables, ids, shouldContinue)) === null) return false
    await clearMonitorNames(db, ids)
  }
  return true
}

/** Deletes all rows of the tables. Returns their number, or null when it was stopped. */
async function deleteAll(
  db: Db,
  tables: Awaited<ReturnType<typeof listDependentTables>>,
  ids: string[],
  shouldContinue: () => boolean,
): Promise<number | null> {
  let total = 0
  for (const table of tables) {
    for (;;) {
      if (!shouldContinue()) return null
      const deleted = await deleteRows(db, table, ids, ROW_BATCH_SIZE)
      total += deleted
      // zero, not less than the batch size: another process may delete rows at the same time
      if (deleted === 0) break
    }
  }
  return total
}

const chunks = (ids: string[]) =>
  Array.from({ length: Math.ceil(ids.length / MONITOR_BATCH_SIZE) }, (_, i) =>
    ids.slice(i * MONITOR_BATCH_SIZE, (i + 1) * MONITOR_BATCH_SIZE),
  )
