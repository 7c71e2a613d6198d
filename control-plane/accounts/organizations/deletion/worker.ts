import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../../../foundation/platform/time/loop.ts'
import { emptyOrganization } from './actions.ts'
import { listClosedOrganizationIds } from './store.ts'

const INTERVAL_MS = 30_000
const ROUND_TIMEOUT_MS = 5_000

/** Continues interrupted deletions of organizations, a few seconds in each round. */
export function startDeletionWorker({ db, ...tools }: LoopTools & { db: Db }): Loop {
  return startLoop('organization-deletions', INTERVAL_MS, tools, async signal => {
    const untilMs = monotonicMs() + ROUND_TIMEOUT_MS
    for (const id of await listClosedOrganizationIds(db)) {
      if (!(await emptyOrganization(db, id, () => !signal.aborted && monotonicMs() < untilMs))) return
    }
  })
}
