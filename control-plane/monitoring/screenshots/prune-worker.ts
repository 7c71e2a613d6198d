import type { ObjectStore } from '../../foundation/platform/object-storage/nats-bucket.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { nowMs } from '../../foundation/platform/time/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../../foundation/platform/time/loop.ts'
import type { ScreenshotSettings } from './settings.ts'
import { deleteScreenshots, listExcessScreenshots, listExpiredScreenshots, listProjectBytes } from './store.ts'

const RETENTION_MS = 30 * 24 * 3_600_000
const BATCH_SIZE = 200
/** The rest of the store is room for the screenshots that arrive between two rounds. */
const MAX_STORE_SHARE = 0.8

type PruneTools = LoopTools & { db: Db; objects: ObjectStore } & Pick<ScreenshotSettings, 'projectMaxBytes'>

/**
 * Deletes screenshots after 30 days, and the oldest of a project that has more than its limit. The limit is lower while the
 * store is nearly full, so that some projects cannot take the room of the others. A baseline is kept as long as pages are
 * compared with it.
 */
export function startScreenshotPruneWorker({ db, objects, projectMaxBytes, ...tools }: PruneTools): Loop {
  return startLoop('screenshots-prune', 600_000, tools, async signal => {
    const deleteAll = async (list: () => ReturnType<typeof listExpiredScreenshots>) => {
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
    await deleteAll(() => listExpiredScreenshots(db, new Date(nowMs() - RETENTION_MS), BATCH_SIZE))
    const limit = Math.min(projectMaxBytes, await computeStoreLimit(db, objects))
    await deleteAll(() => listExcessScreenshots(db, limit, BATCH_SIZE))
  })
}

async function computeStoreLimit(db: Db, objects: ObjectStore): Promise<number> {
  const used = await listProjectBytes(db)
  // a bucket that is not used is not created
  const maxBytes = used.length === 0 ? null : await objects.getMaxBytes()
  return maxBytes === null ? Number.POSITIVE_INFINITY : computeFairLimit(used, maxBytes * MAX_STORE_SHARE)
}

/** The highest limit of a project with which all of them fit into the budget. Infinity when they fit without one. In bytes. */
export function computeFairLimit(used: readonly number[], budget: number): number {
  let left = budget
  for (const [i, bytes] of used.toSorted((a, b) => a - b).entries()) {
    const share = left / (used.length - i)
    if (bytes > share) return Math.floor(share)
    left -= bytes
  }
  return Number.POSITIVE_INFINITY
}
