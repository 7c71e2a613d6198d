import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import type { Loop, LoopTools } from '../../../foundation/platform/time/loop.ts'
import { startScheduledLoop } from '../../../foundation/platform/time/scheduled-loop.ts'
import { closeDueDigests } from './actions.ts'

/** The longest delay after a lost NOTIFY. */
const IDLE_MS = 60_000
/** After a storm many digests are due at once. */
const LOOP_LIMITS = { isCritical: true, limitMs: 120_000 }

/**
 * Sends digests when they are due. Any number of processes may run it; when idle it costs one query a minute. Call `wake`
 * on NOTIFY "digests".
 */
export function startDigestWorker({ db, ...tools }: LoopTools & { db: Db }): Loop {
  return startScheduledLoop('digests', IDLE_MS, tools, () => closeDueDigests(db, now()), LOOP_LIMITS)
}
