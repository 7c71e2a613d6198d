import { now } from '../platform/clock.ts'
import { startDueLoop } from '../platform/due-loop.ts'
import type { Loop, LoopTools } from '../platform/loop.ts'
import type { Db } from '../platform/postgres.ts'
import { closeDueDigests } from './digest-actions.ts'

/** A notification that got lost is made up for after this. */
const IDLE_MS = 60_000
/** After a storm many digests are due at once. */
const LIMITS = { isCritical: true, limitMs: 120_000 }

/** Sends digests when they are due; any number of processes may. Idle it costs one query a minute. `wake` it on NOTIFY "digests": one was opened. */
export function startDigestWorker({ db, ...tools }: LoopTools & { db: Db }): Loop {
  return startDueLoop('digests', IDLE_MS, tools, () => closeDueDigests(db, now()), LIMITS)
}
