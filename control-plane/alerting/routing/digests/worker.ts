import { type Db, isDeadlock, isLockTimeout } from '../../../foundation/platform/postgres/client.ts'
import { now, nowMs } from '../../../foundation/platform/time/clock.ts'
import type { Loop, LoopTools } from '../../../foundation/platform/time/loop.ts'
import { startScheduledLoop } from '../../../foundation/platform/time/scheduled-loop.ts'
import { closeDueDigests } from './actions.ts'

/** The longest delay after a lost NOTIFY. */
const IDLE_MS = 60_000
/** The wait before a project whose digests could not be sent is tried again, and after a round that failed. */
const RETRY_DELAY_MS = 1_000
/** After a storm many digests are due at once. */
const LOOP_LIMITS = { isCritical: true, timeoutMs: 120_000, retryMs: RETRY_DELAY_MS }

/**
 * Sends digests when they are due. Any number of processes may run it; when idle it costs one query a minute. Call `wake`
 * on NOTIFY "digests".
 */
export function startDigestWorker({ db, ...tools }: LoopTools & { db: Db }): Loop {
  const sendDue = async (signal: AbortSignal) => {
    let hasSkipped = false
    const skip = (error: unknown, projectId: string) => {
      hasSkipped = true
      if (isLockTimeout(error) || isDeadlock(error)) return
      // an error in one project must not stop the others
      tools.log.error({ err: error, project_id: projectId }, 'cannot send the digests of a project; retrying')
    }
    const next = await closeDueDigests(db, now(), { signal, skip })
    return next && hasSkipped ? new Date(Math.max(next.getTime(), nowMs() + RETRY_DELAY_MS)) : next
  }
  return startScheduledLoop('digests', IDLE_MS, tools, sendDue, LOOP_LIMITS)
}
