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

/** Deletes stored idempotent answers after a day, expired counters, sessions and links, and audit entries after a year. */
export function startAccountsWorker({ db, ...tools }: LoopTools & { db: Db }): Loop {
  return startLoop('accounts-prune', 600_000, tools, async () => {
    await pruneIdempotencyKeys(db, now())
    await pruneRegistrationAttempts(db, now())
    await prunePasswordAttempts(db, now())
    await pruneEndedSessions(db, now())
    await pruneExpiredLinks(db, now())
    await deleteExpiredAuditRecords(db)
    await pruneMailCounts(db, now())
  })
}
