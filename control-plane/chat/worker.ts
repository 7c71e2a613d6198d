import { now } from '../platform/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../platform/loop.ts'
import { createButtonCleaner } from './button-actions.ts'
import { readDue } from './due-store.ts'
import { matchPeople } from './match-actions.ts'
import { type RenewTools, renewTokens } from './renew-actions.ts'
import { revokeDue } from './revoke-actions.ts'
import { forgetSpent } from './store.ts'

/** What has no notification, an incident that was resolved for instance, is seen after this. */
const IDLE_MS = 10_000
const FORGET_EVERY = 360

/**
 * What has to be said to the provider without anybody waiting: tokens renewed, grants ended, people matched, buttons taken
 * away. Any number of processes may; idle it costs one query. `wake` it on NOTIFY "chat".
 */
export function startChatWorker(context: LoopTools & RenewTools): Loop {
  const clearButtons = createButtonCleaner(context)
  let rounds = 0
  return startLoop('chat', IDLE_MS, context, async signal => {
    if (rounds++ % FORGET_EVERY === 0) await forgetSpent(context.db, now())
    while (!signal.aborted) {
      const due = await readDue(context.db, now())
      if (due.renewals) await renewTokens(context, now())
      if (due.revocations) await revokeDue(context, now())
      if (due.buttons) await clearButtons(now())
      // one team takes a while: what is due meanwhile comes before the next one
      if (!due.people || !(await matchPeople(context, now()))) return
    }
  })
}
