import { now } from '../platform/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../platform/loop.ts'
import type { Db } from '../platform/postgres.ts'
import { planDue } from './actions.ts'

/** starts are two minutes apart at least, and each is written down one ahead */
const EVERY_MS = 10_000
const AT_ONCE = 50

/** Keeps the next period of every window written down ahead. Any number of processes may do so. */
export function startMaintenanceWorker({ db, ...tools }: LoopTools & { db: Db }): Loop {
  return startLoop('maintenance-plan', EVERY_MS, tools, async signal => {
    while (!signal.aborted && (await planDue(db, AT_ONCE, now())) > 0);
  })
}
