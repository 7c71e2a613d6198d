import { type Db, execute } from '../../../foundation/platform/postgres/client.ts'
import { nowMs } from '../../../foundation/platform/time/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../../../foundation/platform/time/loop.ts'
import { ABANDONED_AFTER_MS } from './job-store.ts'

const INTERVAL_MS = 600_000
const KEEP_MS = 24 * 3_600_000

/**
 * Deletes imports of uploaded files a day after their upload, with their stored files and plans. One that is running is kept
 * until it has ended.
 */
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
       (SELECT id FROM import_jobs WHERE created_at < :before AND alive_at < :silent LIMIT :limit FOR UPDATE SKIP LOCKED)`,
    { before, silent: new Date(nowMs() - ABANDONED_AFTER_MS), limit: JOBS_PER_STATEMENT },
  )
