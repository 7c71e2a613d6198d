import type { ObjectStore } from '../../foundation/platform/object-storage/nats-bucket.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { nowMs } from '../../foundation/platform/time/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../../foundation/platform/time/loop.ts'
import type { ScreenshotSettings } from './settings.ts'
import { deleteScreenshots, listExcessScreenshots, listExpiredScreenshots } from './store.ts'

const RETENTION_MS = 30 * 24 * 3_600_000
const BATCH_SIZE = 200

type PruneTools = LoopTools & { db: Db; objects: ObjectStore } & Pick<ScreenshotSettings, 'projectMaxBytes'>

/**
 * Deletes screenshots after 30 days, and the oldest of a project that has more than its limit. A baseline is kept as long as
 * pages are compared with it.
 */
export function startScreenshotPruneWorker({ db, objects, projectMaxBytes, ...tools }: PruneTools): Loop {
  const lists = [
    () => listExpiredScreenshots(db, new Date(nowMs() - RETENTION_MS), BATCH_SIZE),
    () => listExcessScreenshots(db, projectMaxBytes, BATCH_SIZE),
  ]
  return startLoop('screenshots-prune', 600_000, tools, async signal => {
    for (const list of lists) {
      let count = BATCH_SIZE
      while (count === BATCH_SIZE && !signal.aborted) {
        const found = await list()
        for (const { storeKey } of found) await objects.remove(storeKey)
        await deleteScreenshots(
          db,
          found.map(({ id }) => id),
        )
        count = found.length
      }
    }
  })
}
