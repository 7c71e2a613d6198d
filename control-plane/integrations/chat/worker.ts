import { now } from '../../foundation/platform/time/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../../foundation/platform/time/loop.ts'
import { loadDueWork } from './installations/due-store.ts'
import { deleteExpiredClaims } from './installations/installation-store.ts'
import { type RenewTools, renewTokens } from './installations/renew-actions.ts'
import { revokeDue } from './installations/revoke-actions.ts'
import { matchPeople } from './people/match-actions.ts'
import { createButtonCleaner } from './requests/button-actions.ts'

/** What has no notification, an incident that was resolved for instance, is seen after this. */
const IDLE_MS = 10_000
const CLEANUP_EVERY_ROUNDS = 360

/**
 * What has to be said to the provider without anybody waiting: tokens renewed, grants ended, people matched, buttons taken
 * away. Any number of processes may; idle it costs one query. `wake` it on NOTIFY "chat".
 */
export function startChatWorker(context: LoopTools & RenewTools): Loop {
  const clearButtons = createButtonCleaner(context)
  let rounds = 0
  return startLoop('chat', IDLE_MS, context, async signal => {
    if (rounds++ % CLEANUP_EVERY_ROUNDS === 0) await deleteExpiredClaims(context.db, now())
    while (!signal.aborted) {
      const due = await loadDueWork(context.db, now())
      if (due.renewals) await renewTokens(context, now())
      if (due.revocations) await revokeDue(context, now())
      if (due.buttons) await clearButtons(now())
      // one team takes a while: what is due meanwhile comes before the next one
      if (!due.people || !(await matchPeople(context, now()))) return
    }
  })
}
