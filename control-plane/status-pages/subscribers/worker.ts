import { now } from '../../platform/clock.ts'
import { startDueLoop } from '../../platform/due-loop.ts'
import { type Loop, type LoopTools, startLoop } from '../../platform/loop.ts'
import type { Db } from '../../platform/postgres.ts'
import { dropOldDeliveries, dropUnconfirmed } from './cleaning-store.ts'
import { CONFIRM_MS } from './limits.ts'
import { tellSubscribers } from './notice-actions.ts'

type Tools = LoopTools & { db: Db; publicUrl: string }

/** A notification that got lost is made up for after this. */
const IDLE_MS = 60_000
const CLEAN_EVERY_MS = 600_000
const KEPT_MS = 7 * 24 * 3_600_000

/** Tells subscribers what pages have to tell; any number of processes may. Idle it costs one query a minute. `wake` it on NOTIFY "page_notices". */
export function startNoticeWorker({ db, publicUrl, ...tools }: Tools): Loop {
  return startDueLoop('page-notices', IDLE_MS, tools, () => tellSubscribers(db, publicUrl, now()))
}

/** Forgets who never confirmed, and what subscribers were sent long ago. */
export function startSubscriberCleaning({ db, ...tools }: LoopTools & { db: Db }): Loop {
  return startLoop('page-subscribers', CLEAN_EVERY_MS, tools, async () => {
    const before = (ms: number) => new Date(now().getTime() - ms)
    await dropUnconfirmed(db, before(CONFIRM_MS))
    await dropOldDeliveries(db, before(KEPT_MS))
  })
}
