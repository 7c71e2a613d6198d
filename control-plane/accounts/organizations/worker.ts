import { monotonicMs } from '../../platform/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../../platform/loop.ts'
import type { Db } from '../../platform/postgres.ts'
import { emptyOrganization } from './deletion-actions.ts'
import { closedOrganizations } from './deletion-store.ts'

const INTERVAL_MS = 30_000
const ROUND_MS = 5_000

/** Goes on with deletions of organizations whose command did not come to its end, a few seconds a round. */
export function startDeletionWorker({ db, ...tools }: LoopTools & { db: Db }): Loop {
  return startLoop('organization-deletions', INTERVAL_MS, tools, async signal => {
    const untilMs = monotonicMs() + ROUND_MS
    for (const id of await closedOrganizations(db)) {
      if (!(await emptyOrganization(db, id, () => !signal.aborted && monotonicMs() < untilMs))) return
    }
  })
}
