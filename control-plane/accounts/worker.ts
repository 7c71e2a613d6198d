import { now } from '../platform/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../platform/loop.ts'
import type { Db } from '../platform/postgres.ts'
import { pruneIdempotencyKeys } from '../web/store.ts'
import { forgetOldActs } from './audit/actions.ts'
import { pruneAttempts } from './bootstrap/store.ts'
import { pruneMailCounts } from './mails/limit-store.ts'
import { forgetLinks } from './password-links/actions.ts'
import { forgetSessions } from './sessions/actions.ts'
import { pruneAttempts as prunePasswordAttempts } from './sign-in/attempt-store.ts'

/** Forgets kept answers after a day, what is counted against abuse, what has ended, and the audit log after a year. */
export function startAccountsWorker({ db, ...tools }: LoopTools & { db: Db }): Loop {
  return startLoop('accounts-prune', 600_000, tools, async () => {
    await pruneIdempotencyKeys(db, now())
    await pruneAttempts(db, now())
    await prunePasswordAttempts(db, now())
    await forgetSessions(db, now())
    await forgetLinks(db, now())
    await forgetOldActs(db)
    await pruneMailCounts(db, now())
  })
}
