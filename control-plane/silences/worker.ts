import { now } from '../platform/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../platform/loop.ts'
import type { Nats } from '../platform/nats.ts'
import type { Db } from '../platform/postgres.ts'
import { askParents } from './ask-actions.ts'
import { reviewDue } from './review-actions.ts'
import { claimUnasked } from './store.ts'

const EVERY_MS = 1_000
const AT_ONCE = 500

/**
 * Tells what was withheld once nothing keeps silent any more, and asks parents how they are. Any number of processes
 * may do so. `wake`: something has been withheld, or may be told.
 */
export function startSilencesWorker(context: LoopTools & { db: Db; nats: Nats }): Loop {
  const { db, log } = context
  // nobody waits for it: a parent that hangs holds up its own children only, no longer than they may be in doubt
  const ask = (monitorIds: string[]) =>
    void askParents(context, monitorIds).catch(err => {
      log.warn({ err }, 'parents could not be asked; their children are told of a little later')
    })

  return startLoop('silences', EVERY_MS, context, async signal => {
    const unasked = await claimUnasked(db, AT_ONCE)
    if (unasked.length > 0) ask(unasked)
    while (!signal.aborted && (await reviewDue(db, AT_ONCE, now())) > 0);
  })
}
