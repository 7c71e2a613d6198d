import { type Db, execute } from '../../../foundation/platform/postgres/client.ts'
import { nowMs } from '../../../foundation/platform/time/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../../../foundation/platform/time/loop.ts'

const INTERVAL_MS = 600_000
const KEEP_MS = 24 * 3_600_000

/** Deletes imports of uploaded files a day after their upload, with their stored files and plans. */
export function startImportCleanup({ db, ...tools }: LoopTools & { db: Db }): Loop {
  return startLoop('imports-prune', INTERVAL_MS, tools, async signal => {
    while (!signal.aborted && (await deleteExpired(db, new Date(nowMs() - KEEP_MS))) > 0);
  })
}

/** Each job has up to some ten thousand items. */
const JOBS_PER_STATEMENT = 10

const deleteExpired = (db: Db, before: Date): Promise<number> =>
  execute(
    db,
    `DELETE FROM import_jobs WHERE id IN
       (SELECT id FROM import_jobs WHERE created_at < :before LIMIT :limit FOR UPDATE SKIP LOCKED)`,
    { before, limit: JOBS_PER_STATEMENT },
  )
