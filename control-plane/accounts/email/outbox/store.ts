import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { EncryptedColumn } from '../../../foundation/platform/crypto/reencrypt.ts'
import { type Db, execute, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { claimRows, type LeaseRequest } from '../../../foundation/platform/postgres/lease.ts'
import type { QueuedEmail } from './account-email.tsx'

const buildBinding = (id: string) => `account-mail:${id}`

export const ENCRYPTED_MAIL_COLUMNS: EncryptedColumn[] = [
  { table: 'account_mails', column: 'letter', key: ['id'], needs: [], getBinding: row => buildBinding(row.id!) },
]

export const encryptMail = (email: QueuedEmail, id: string, secrets: SecretCipher): Buffer =>
  secrets.encrypt(JSON.stringify(email), buildBinding(id))

export const decryptMail = (encrypted: Buffer, id: string, secrets: SecretCipher): QueuedEmail =>
  JSON.parse(secrets.decrypt(encrypted, buildBinding(id))) as QueuedEmail

export const insertMail = (tx: Tx, mail: { id: string; letter: Buffer; now: Date }) =>
  execute(
    tx,
    'INSERT INTO account_mails (id, letter, next_attempt_at, created_at) VALUES (:id, :letter, :now, :now)',
    mail,
  )

export type DueMail = { id: string; letter: Buffer; attempts: number; createdAt: Date }

const MAILS = { table: 'account_mails', key: 'id', dueAt: 'next_attempt_at', changes: 'attempts = attempts + 1' }

/** Claims due emails, oldest first. No other process sends them before the lease ends. */
export const claimMails = (db: Db, request: LeaseRequest) =>
  claimRows<DueMail>(db, MAILS, 'id, letter, attempts, created_at AS "createdAt"', request)

export const removeMail = (db: Db, id: string) => execute(db, 'DELETE FROM account_mails WHERE id = ?', [id])

export const postponeMail = (db: Db, id: string, at: Date) =>
  execute(db, 'UPDATE account_mails SET next_attempt_at = ? WHERE id = ?', [at, id])
