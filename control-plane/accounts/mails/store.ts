import { type Db, execute, query, type Tx } from '../../platform/postgres.ts'
import type { SealedColumn } from '../../platform/reseal.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { Posted } from './letter.ts'

const bindingOf = (id: string) => `account-mail:${id}`

export const SEALED_IN_MAILS: SealedColumn[] = [
  { table: 'account_mails', column: 'letter', key: ['id'], needs: [], bindingOf: row => bindingOf(row.id!) },
]

export const sealLetter = (letter: Posted, id: string, secrets: Secrets): Buffer =>
  secrets.seal(JSON.stringify(letter), bindingOf(id))

export const openLetter = (sealed: Buffer, id: string, secrets: Secrets): Posted =>
  JSON.parse(secrets.open(sealed, bindingOf(id))) as Posted

export const insertMail = (tx: Tx, mail: { id: string; letter: Buffer; now: Date }) =>
  execute(
    tx,
    'INSERT INTO account_mails (id, letter, next_attempt_at, created_at) VALUES (:id, :letter, :now, :now)',
    mail,
  )

export type DueMail = { id: string; letter: Buffer; attempts: number; createdAt: Date }

/** Takes what is due, oldest first, so that no other process sends it before `until`. */
export const claimMails = (db: Db, { limit, now, until }: { limit: number; now: Date; until: Date }) =>
  query<DueMail>(
    db,
    `UPDATE account_mails SET next_attempt_at = :until, attempts = attempts + 1
     WHERE id IN (SELECT id FROM account_mails WHERE next_attempt_at <= :now ORDER BY next_attempt_at LIMIT :limit
                  FOR UPDATE SKIP LOCKED)
     RETURNING id, letter, attempts, created_at AS "createdAt"`,
    { limit, now, until },
  )

export const removeMail = (db: Db, id: string) => execute(db, 'DELETE FROM account_mails WHERE id = ?', [id])

export const putOffMail = (db: Db, id: string, at: Date) =>
  execute(db, 'UPDATE account_mails SET next_attempt_at = ? WHERE id = ?', [at, id])
