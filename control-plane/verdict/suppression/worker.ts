import type { Nats } from '../../foundation/platform/nats/client.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now, nowMs } from '../../foundation/platform/time/clock.ts'
import type { Loop, LoopTools } from '../../foundation/platform/time/loop.ts'
import { CRITICAL } from '../../foundation/platform/time/loop.ts'
import { startScheduledLoop } from '../../foundation/platform/time/scheduled-loop.ts'
import { checkParents } from './parent-check-actions.ts'
import { reviewDueSilences } from './review-actions.ts'
import { claimParentChecks, findNextReviewAt } from './store.ts'

/** Whoever withholds something, or may end a silence, wakes this (NOTIFY silences); else it knows when to look. */
const POLL_INTERVAL_MS = 10_000
/** What somebody else held is looked at again after this. */
const RETRY_DELAY_MS = 500
const BATCH_SIZE = 500

/**
 * Tells what was withheld once nothing keeps silent any more, and asks parents how they are. Any number of processes
 * may do so. Idle it costs one query in ten seconds.
 */
export function startSuppressionWorker(context: LoopTools & { db: Db; nats: Nats }): Loop {
  const { db, log } = context
  // nobody waits for it: a parent that hangs holds up its own children only, no longer than they may be in doubt
  const ask = (monitorIds: string[]) =>
    void checkParents(context, monitorIds).catch(err => {
      log.warn({ err }, 'parents could not be asked; their children are told of a little later')
    })

  return startScheduledLoop(
    'silences',
    POLL_INTERVAL_MS,
    context,
    async signal => {
      const due = await findNextReviewAt(db)
      if (due === null) return null
      const unasked = await claimParentChecks(db, BATCH_SIZE)
      if (unasked.length > 0) ask(unasked)
      if (due > now()) return due
      while (!signal.aborted && (await reviewDueSilences(db, BATCH_SIZE, now())) > 0);
      const next = await findNextReviewAt(db)
      return next && new Date(Math.max(next.getTime(), nowMs() + RETRY_DELAY_MS))
    },
    CRITICAL,
  )
}
