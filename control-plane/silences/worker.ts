import { now, nowMs } from '../platform/clock.ts'
import { startDueLoop } from '../platform/due-loop.ts'
import type { Loop, LoopTools } from '../platform/loop.ts'
import { CRITICAL } from '../platform/loop.ts'
import type { Nats } from '../platform/nats.ts'
import type { Db } from '../platform/postgres.ts'
import { askParents } from './ask-actions.ts'
import { reviewDue } from './review-actions.ts'
import { claimUnasked, nextReviewDue } from './store.ts'

/** Whoever withholds something, or may end a silence, wakes this (NOTIFY silences); else it knows when to look. */
const LOOK_EVERY_MS = 10_000
/** What somebody else held is looked at again after this. */
const AGAIN_MS = 500
const AT_ONCE = 500

/**
 * Tells what was withheld once nothing keeps silent any more, and asks parents how they are. Any number of processes
 * may do so. Idle it costs one query in ten seconds.
 */
export function startSilencesWorker(context: LoopTools & { db: Db; nats: Nats }): Loop {
  const { db, log } = context
  // nobody waits for it: a parent that hangs holds up its own children only, no longer than they may be in doubt
  const ask = (monitorIds: string[]) =>
    void askParents(context, monitorIds).catch(err => {
      log.warn({ err }, 'parents could not be asked; their children are told of a little later')
    })

  return startDueLoop(
    'silences',
    LOOK_EVERY_MS,
    context,
    async signal => {
      const due = await nextReviewDue(db)
      if (due === null) return null
      const unasked = await claimUnasked(db, AT_ONCE)
      if (unasked.length > 0) ask(unasked)
      if (due > now()) return due
      while (!signal.aborted && (await reviewDue(db, AT_ONCE, now())) > 0);
      const next = await nextReviewDue(db)
      return next && new Date(Math.max(next.getTime(), nowMs() + AGAIN_MS))
    },
    CRITICAL,
  )
}
