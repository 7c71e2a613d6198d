import { sha256 } from '../../foundation/platform/crypto/encryption.ts'
import { type Db, execute, query } from '../../foundation/platform/postgres/client.ts'
import { LOCK_KEYS } from '../../foundation/platform/postgres/lock-keys.ts'

const ATTEMPT_WINDOW_MS = 15 * 60_000

/** A limit of attempts in 15 minutes, for example of sign-ins from one network. */
export type AttemptLimit = { subject: string; max: number }

/**
 * Counts an attempt before it is made, so that concurrent attempts cannot exceed a limit, over all processes. Returns null,
 * or the seconds to wait; then nothing is counted.
 */
export function countAttempt(db: Db, limited: AttemptLimit[], now: Date): Promise<number | null> {
  return db.transaction(async tx => {
    const subjects = limited.map(({ subject, max: most }) => ({ hash: sha256(subject), most }))
    const keys = subjects.map(({ hash }) => hash.readInt32BE(0)).sort((a, b) => a - b)
    for (const key of keys) await tx.raw(`SELECT pg_advisory_xact_lock(${LOCK_KEYS.signInAttempts}, ?)`, [key])
    for (const { hash, most } of subjects) {
      const [oldest] = await query<{ at: Date }>(
        tx,
        'SELECT at FROM password_attempts WHERE subject = ? AND at > ? ORDER BY at DESC OFFSET ? LIMIT 1',
        [hash, new Date(now.getTime() - ATTEMPT_WINDOW_MS), most - 1],
      )
      if (oldest) return Math.max(1, Math.ceil((oldest.at.getTime() + ATTEMPT_WINDOW_MS - now.getTime()) / 1_000))
    }
    await execute(tx, 'INSERT INTO password_attempts (subject, at) SELECT unnest(?::bytea[]), ?', [
      subjects.map(({ hash }) => hash),
      now,
    ])
    return null
  })
}

/** Removes one attempt that was counted at `at`: successful sign-ins, and attempts that were not made, do not count. */
export const refundAttempt = (db: Db, limited: AttemptLimit[], at: Date) =>
  execute(
    db,
    // other attempts of the same millisecond still count
    `DELETE FROM password_attempts WHERE ctid = ANY (ARRAY(
       SELECT (SELECT ctid FROM password_attempts WHERE subject = s AND at = ? LIMIT 1 FOR UPDATE SKIP LOCKED)
       FROM unnest(?::bytea[]) AS s))`,
    [at, limited.map(({ subject }) => sha256(subject))],
  )

/** Removes all attempts of a subject, after a success. */
export const clearAttempts = (db: Db, subject: string) =>
  execute(db, 'DELETE FROM password_attempts WHERE subject = ?', [sha256(subject)])

export const prunePasswordAttempts = (db: Db, now: Date) =>
  execute(db, 'DELETE FROM password_attempts WHERE at < ?', [new Date(now.getTime() - ATTEMPT_WINDOW_MS)])
