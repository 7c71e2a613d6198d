import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../../foundation/platform/time/loop.ts'
import { startScheduledLoop } from '../../foundation/platform/time/scheduled-loop.ts'
import { deleteOldDeliveries, deleteUnconfirmed } from './cleanup-store.ts'
import { CONFIRMATION_TIMEOUT_MS } from './limits.ts'
import { notifySubscribers } from './notice-actions.ts'

type Tools = LoopTools & { db: Db; publicUrl: string }

/** The wait after which work is looked for even without a notification. */
const MAX_IDLE_MS = 60_000
const CLEANUP_INTERVAL_MS = 600_000
const RETENTION_MS = 7 * 24 * 3_600_000

/**
 * Sends the notices of pages to their subscribers. Any number of processes may run it. When idle it costs one query a
 * minute. Call `wake` on NOTIFY "page_notices".
 */
export function startNoticeWorker({ db, publicUrl, ...tools }: Tools): Loop {
  const skip = (error: unknown, pageId: string) =>
    tools.log.error({ err: error, page_id: pageId }, 'cannot send the notices of a status page; retrying')
  return startScheduledLoop('page-notices', MAX_IDLE_MS, tools, () => notifySubscribers(db, publicUrl, now(), skip))
}

/** Deletes unconfirmed subscribers and old deliveries to subscribers. */
export function startSubscriberCleanup({ db, ...tools }: LoopTools & { db: Db }): Loop {
  return startLoop('page-subscribers', CLEANUP_INTERVAL_MS, tools, async () => {
    const before = (ms: number) => new Date(now().getTime() - ms)
    await deleteUnconfirmed(db, before(CONFIRMATION_TIMEOUT_MS))
    await deleteOldDeliveries(db, before(RETENTION_MS))
  })
}
