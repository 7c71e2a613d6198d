import type { Db } from '../foundation/platform/postgres/client.ts'
import { now } from '../foundation/platform/time/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../foundation/platform/time/loop.ts'
import { pruneIdempotencyKeys } from '../foundation/web/server/idempotency-store.ts'
import { deleteExpiredAuditRecords } from './audit/actions.ts'
import { pruneMailCounts } from './email/daily-limits/store.ts'
import { pruneRegistrationAttempts } from './registration/store.ts'
import { pruneEndedSessions } from './sessions/actions.ts'
import { prunePasswordAttempts } from './sign-in/attempt-store.ts'
import { pruneExpiredLinks } from './sign-in/password-links/actions.ts'

type Prune = (db: Db, signal: AbortSignal) => Promise<unknown>

/** The audit log comes last, because its backlog can take the rest of the round's time. */
const PRUNES: Prune[] = [
  db => pruneIdempotencyKeys(db, now()),
  db => pruneRegistrationAttempts(db, now()),
  db => prunePasswordAttempts(db, now()),
  db => pruneEndedSessions(db, now()),
  db => pruneExpiredLinks(db, now()),
  db => pruneMailCounts(db, now()),
  deleteExpiredAuditRecords,
]

/**
 * Returns a function that deletes each kind of rows. An aborted round is continued by the next one, so a kind that takes all
 * the time does not stop the others. Throws the errors of a round after the other kinds were deleted.
 */
export function createCleanupRound(db: Db): (signal: AbortSignal) => Promise<void> {
  let left: Prune[] = []
  return async signal => {
    const faults: unknown[] = []
    if (left.length === 0) left = PRUNES
    while (left.length > 0 && !signal.aborted) {
      const [prune, ...others] = left as [Prune, ...Prune[]]
      await prune(db, signal).catch((error: unknown) => void faults.push(error))
      left = others
    }
    if (faults.length > 1) throw new AggregateError(faults, 'several kinds of rows could not be deleted')
    if (faults.length === 1) throw faults[0]
  }
}

/** Deletes stored idempotent answers after a day, expired counters, sessions and links, and audit entries after a year. */
export const startAccountsWorker = ({ db, ...tools }: LoopTools & { db: Db }): Loop =>
  startLoop('accounts-prune', 600_000, tools, createCleanupRound(db))
