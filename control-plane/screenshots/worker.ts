import { nowMs } from '../platform/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../platform/loop.ts'
import type { ObjectStore } from '../platform/objects.ts'
import type { Db } from '../platform/postgres.ts'
import { deleteScreenshots, oldScreenshots } from './store.ts'

const KEPT_MS = 30 * 24 * 3_600_000
const AT_ONCE = 200

/** Forgets screenshots after 30 days; a baseline stays for as long as pages are compared with it. */
export function startScreenshotWorker({ db, objects, ...tools }: LoopTools & { db: Db; objects: ObjectStore }): Loop {
  return startLoop('screenshots-prune', 600_000, tools, async signal => {
    while (!signal.aborted) {
      const old = await oldScreenshots(db, new Date(nowMs() - KEPT_MS), AT_ONCE)
      for (const { storeKey } of old) await objects.remove(storeKey)
      await deleteScreenshots(
        db,
        old.map(({ id }) => id),
      )
      if (old.length < AT_ONCE) return
    }
  })
}
