import type { Nats } from '../../foundation/platform/nats/client.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now, nowMs } from '../../foundation/platform/time/clock.ts'
import type { Loop, LoopTools } from '../../foundation/platform/time/loop.ts'
import { CRITICAL } from '../../foundation/platform/time/loop.ts'
import { startScheduledLoop } from '../../foundation/platform/time/scheduled-loop.ts'
import { checkParents } from './parent-check-actions.ts'
import { reviewDueSilences } from './review-actions.ts'
import { claimParentChecks, findNextReviewAt, type ParentCheck } from './store.ts'

/** The worker is woken by NOTIFY `silences` and at the next `due_at`; in addition it polls at this interval. */
const POLL_INTERVAL_MS = 10_000
/** Silences whose monitors were locked are tried again after this. */
const RETRY_DELAY_MS = 500
const BATCH_SIZE = 500

/**
 * Reviews silences, sends what was withheld when no reason is left, and checks parents on request. Any number of
 * processes may run it. Idle, it costs one query in ten seconds.
 */
export function startSuppressionWorker(context: LoopTools & { db: Db; nats: Nats }): Loop {
  const { db, log } = context
  // not awaited: a parent that hangs delays only its own children, at most until their doubt ends
  const ask = (checks: readonly ParentCheck[]) =>
    void checkParents(context, checks).catch(err => {
      log.warn({ err }, 'cannot check parents; alerts of their children are sent later')
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
      while (!signal.aborted && (await reviewDueSilences(context, BATCH_SIZE, now())) > 0);
      const next = await findNextReviewAt(db)
      return next && new Date(Math.max(next.getTime(), nowMs() + RETRY_DELAY_MS))
    },
    CRITICAL,
  )
}
