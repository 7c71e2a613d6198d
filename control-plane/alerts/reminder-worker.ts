import { now, nowMs } from '../platform/clock.ts'
import { startDueLoop } from '../platform/due-loop.ts'
import type { Loop, LoopTools } from '../platform/loop.ts'
import type { Db } from '../platform/postgres.ts'
import { remindOfOutages } from './reminder-actions.ts'
import { nextReminderDue } from './reminder-store.ts'

/** What begins in the meantime is due five minutes later at the earliest, so nobody has to wake this. */
const LOOK_EVERY_MS = 60_000
const AT_ONCE = 200
/** What somebody else held is looked at again after this. */
const AGAIN_MS = 1_000

/** Tells lasting outages again when rules want it; any number of processes may. Idle it costs one query a minute. */
export function startReminderWorker({ db, ...tools }: LoopTools & { db: Db }): Loop {
  return startDueLoop('reminders', LOOK_EVERY_MS, tools, async signal => {
    const due = await nextReminderDue(db)
    if (due === null || due > now()) return due
    while (!signal.aborted && (await remindOfOutages(db, AT_ONCE, now())) === AT_ONCE);
    const next = await nextReminderDue(db)
    return next && new Date(Math.max(next.getTime(), nowMs() + AGAIN_MS))
  })
}
