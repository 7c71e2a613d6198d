import { now } from '../../foundation/platform/time/clock.ts'
import { ALIGNED, type Loop, type LoopTools, startLoop } from '../../foundation/platform/time/loop.ts'
import { loadDueWork } from './installations/due-store.ts'
import { deleteExpiredClaims } from './installations/installation-store.ts'
import { type RenewTools, renewTokens } from './installations/renew-actions.ts'
import { revokeDue } from './installations/revoke-actions.ts'
import { matchPeople } from './people/match-actions.ts'
import { createButtonCleaner } from './requests/button-actions.ts'

/** Interval for work without a NOTIFY, such as the button of a resolved incident. */
const IDLE_MS = 10_000
const CLEANUP_EVERY_ROUNDS = 360

/**
 * Renews tokens, revokes grants, matches people and removes obsolete buttons. Any number of processes share the work. An
 * idle round is one query. Call `wake` on NOTIFY "chat".
 */
export function startChatWorker(context: LoopTools & RenewTools): Loop {
  const clearButtons = createButtonCleaner(context)
  let rounds = 0
  const round = async (signal: AbortSignal) => {
    if (rounds++ % CLEANUP_EVERY_ROUNDS === 0) await deleteExpiredClaims(context.db, now())
    while (!signal.aborted) {
      const due = await loadDueWork(context.db, now())
      if (due.renewals) await renewTokens(context, now)
      if (due.revocations) await revokeDue(context, now)
      if (due.buttons) await clearButtons(now())
      // matching a team takes a while, so other due work comes before the next team
      if (!due.people || !(await matchPeople(context, now()))) return
    }
  }
  return startLoop('chat', IDLE_MS, context, round, ALIGNED)
}
