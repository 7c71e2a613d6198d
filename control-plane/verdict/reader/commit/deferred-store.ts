import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { VerdictChange } from '../../core/decision-actions.ts'
import { PositionMovedError } from '../partitions/partition-store.ts'
import { type DeferredChanges, deferChange } from './deferred.ts'

/** Stores changes in the transaction that moves the position past them. Does not wait for locks. */
export async function insertDeferredChanges(tx: Tx, partition: number, changes: VerdictChange[]): Promise<void> {
  if (changes.length === 0) return
  await execute(
    tx,
    `INSERT INTO deferred_changes (partition, monitor_id, change)
     SELECT :partition, CAST(row.change->>'monitorId' AS uuid), row.change
     FROM json_array_elements(CAST(:changes AS json)) WITH ORDINALITY AS row (change, number) ORDER BY number`,
    { partition, changes: JSON.stringify(changes) },
  )
}

/** The deferred changes of a partition, in the order in which they were decided. */
export async function loadDeferredChanges(db: Db, partition: number): Promise<DeferredChanges> {
  const deferred: DeferredChanges = new Map()
  const rows = await query<{ change: VerdictChange }>(
    db,
    'SELECT change FROM deferred_changes WHERE partition = ? ORDER BY seq',
    [partition],
  )
  for (const { change } of rows) {
    // a newer configuration: the change before it was discarded then, which is not recorded here
    const before = deferred.get(change.monitorId)
    if (before?.change && before.change.configVersion < change.configVersion) before.change = null
    deferChange(deferred, change, null)
  }
  return deferred
}

/**
 * Throws a PositionMovedError if rows are missing: then a transaction was committed without an answer to the reader.
 */
export async function deleteDeferredChanges(
  tx: Tx,
  partition: number,
  monitorIds: string[],
  rows: number,
): Promise<void> {
  const deleted = await execute(
    tx,
    'DELETE FROM deferred_changes WHERE partition = :partition AND monitor_id = ANY (CAST(:monitorIds AS uuid[]))',
    { partition, monitorIds },
  )
  if (deleted !== rows)
    throw new PositionMovedError(`found ${deleted} of ${rows} deferred changes of partition ${partition}`)
}
