import type { Db } from '../../foundation/platform/postgres/client.ts'
import { type Loop, type LoopTools, startLoop } from '../../foundation/platform/time/loop.ts'
import { deleteOldChanges } from './change-store.ts'

const INTERVAL_MS = 300_000
const BATCH_SIZE = 5_000

/** Deletes rows of the log of changes that no client can ask for. Any number of processes may run it. */
export function startChangeCleanup({ db, ...tools }: LoopTools & { db: Db }): Loop {
  return startLoop('project-changes', INTERVAL_MS, tools, async signal => {
    while (!signal.aborted && (await deleteOldChanges(db, BATCH_SIZE)) === BATCH_SIZE);
  })
}
