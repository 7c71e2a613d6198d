import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now, nowMs } from '../../../foundation/platform/time/clock.ts'
import type { Loop, LoopTools } from '../../../foundation/platform/time/loop.ts'
import { startScheduledLoop } from '../../../foundation/platform/time/scheduled-loop.ts'
import { sendDueReminders } from './actions.ts'
import { findNextReminderDue } from './store.ts'

/** A new reminder is due after five minutes at the earliest, so the loop needs no NOTIFY. */
const POLL_INTERVAL_MS = 60_000
const BATCH_SIZE = 200
/** The wait before reminders that another transaction held are tried again. */
const RETRY_DELAY_MS = 1_000

/** Sends the reminders of open outages. Any number of processes may run it; when idle it costs one query a minute. */
export function startReminderWorker({ db, ...tools }: LoopTools & { db: Db }): Loop {
  return startScheduledLoop('reminders', POLL_INTERVAL_MS, tools, async signal => {
    const due = await findNextReminderDue(db)
    if (due === null || due > now()) return due
    while (!signal.aborted && (await sendDueReminders(db, BATCH_SIZE, now())) === BATCH_SIZE);
    const next = await findNextReminderDue(db)
    return next && new Date(Math.max(next.getTime(), nowMs() + RETRY_DELAY_MS))
  })
}
