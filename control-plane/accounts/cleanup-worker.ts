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

/** The audit log comes last, because its backlog can take the rest of the round's time. */
const PRUNES: ((db: Db, signal: AbortSignal) => Promise<unknown>)[] = [
  db => pruneIdempotencyKeys(db, now()),
  db => pruneRegistrationAttempts(db, now()),
  db => prunePasswordAttempts(db, now()),
  db => pruneEndedSessions(db, now()),
  db => pruneExpiredLinks(db, now()),
  db => pruneMailCounts(db, now()),
  deleteExpiredAuditRecords,
]

/**
 * Deletes stored idempotent answers after a day, expired counters, sessions and links, and audit entries after a year. When
 * one kind fails, the others are deleted nevertheless, and then the round fails.
 */
export function startAccountsWorker({ db, ...tools }: LoopTools & { db: Db }): Loop {
  return startLoop('accounts-prune', 600_000, tools, async signal => {
    const faults: unknown[] = []
    for (const prune of PRUNES) {
      if (!signal.aborted) await prune(db, signal).catch((error: unknown) => void faults.push(error))
    }
    if (faults.length > 1) throw new AggregateError(faults, 'several kinds of rows could not be deleted')
    if (faults.length === 1) throw faults[0]
  })
}
