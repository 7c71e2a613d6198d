import type { ObjectStore } from '../../foundation/platform/object-storage/nats-bucket.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { nowMs } from '../../foundation/platform/time/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../../foundation/platform/time/loop.ts'
import { deleteScreenshots, listExpiredScreenshots } from './store.ts'

const RETENTION_MS = 30 * 24 * 3_600_000
const BATCH_SIZE = 200

/** Deletes screenshots after 30 days. A baseline is kept as long as pages are compared with it. */
export function startScreenshotPruneWorker({
  db,
  objects,
  ...tools
}: LoopTools & { db: Db; objects: ObjectStore }): Loop {
  return startLoop('screenshots-prune', 600_000, tools, async signal => {
    while (!signal.aborted) {
      const old = await listExpiredScreenshots(db, new Date(nowMs() - RETENTION_MS), BATCH_SIZE)
      for (const { storeKey } of old) await objects.remove(storeKey)
      await deleteScreenshots(
        db,
        old.map(({ id }) => id),
      )
      if (old.length < BATCH_SIZE) return
    }
  })
}
