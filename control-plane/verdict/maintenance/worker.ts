import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { ALIGNED, type Loop, type LoopTools, startLoop } from '../../foundation/platform/time/loop.ts'
import { planDueWindows } from './actions.ts'
import { sendDueNotices } from './notices/notice-actions.ts'
import { hasDueWork } from './store.ts'

/** Periods begin at least two minutes apart, and each is planned before the previous one ends. */
const PLAN_INTERVAL_MS = 10_000
const BATCH_SIZE = 50

/** Plans the next period of every window, and sends notices to subscribers. Any number of processes may run it. */
export function startMaintenanceWorker({ db, ...tools }: LoopTools & { db: Db }): Loop {
  const round = async (signal: AbortSignal) => {
    if (!(await hasDueWork(db, now()))) return
    while (!signal.aborted && (await planDueWindows(db, BATCH_SIZE, now())) > 0);
    while (!signal.aborted && (await sendDueNotices(db, BATCH_SIZE, now())) > 0);
  }
  return startLoop('maintenance-plan', PLAN_INTERVAL_MS, tools, round, ALIGNED)
}
