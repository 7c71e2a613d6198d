import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import type { Loop, LoopTools } from '../../../foundation/platform/time/loop.ts'
import { startScheduledLoop } from '../../../foundation/platform/time/scheduled-loop.ts'
import { closeDueDigests } from './actions.ts'

/** A notification that got lost is made up for after this. */
const IDLE_MS = 60_000
/** After a storm many digests are due at once. */
const LOOP_LIMITS = { isCritical: true, limitMs: 120_000 }

/** Sends digests when they are due; any number of processes may. Idle it costs one query a minute. `wake` it on NOTIFY "digests": one was opened. */
export function startDigestWorker({ db, ...tools }: LoopTools & { db: Db }): Loop {
  return startScheduledLoop('digests', IDLE_MS, tools, () => closeDueDigests(db, now()), LOOP_LIMITS)
}
