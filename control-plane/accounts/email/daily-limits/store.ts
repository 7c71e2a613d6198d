import { sha256 } from '../../../foundation/platform/crypto/encryption.ts'
import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { admitMail, getCounterNames, type MailCounts, type MailLimits, type MailRequest } from './limits.ts'

/**
 * Counts emails before they are sent, in the given order. Returns for each the limit that prevents it, or null. The
 * counters are locked until the transaction ends, so that concurrent transactions cannot exceed a limit. End the transaction
 * soon, and lock everything else before.
 */
export async function reserveMails(
  tx: Tx,
  requests: MailRequest[],
  limits: MailLimits,
  now: Date,
): Promise<(string | null)[]> {
  if (requests.length === 0) return []
  const names = [...new Set(requests.flatMap(request => Object.values(getCounterNames(request))))]
  const hashes = new Map(names.map(name => [sha256(name).toString('hex'), name]))
  const bindings = { day: now.toISOString().slice(0, 10), subjects: [...hashes.keys()].sort() }
  await execute(
    tx,
    `INSERT INTO mail_counts (day, subject, used)
     SELECT CAST(:day AS date), decode(s, 'hex'), 0 FROM unnest(CAST(:subjects AS text[])) s ORDER BY s
     ON CONFLICT DO NOTHING`,
    bindings,
  )
  const rows = await query<{ subject: string; used: number }>(
    tx,
    `SELECT encode(subject, 'hex') AS subject, used FROM mail_counts
     WHERE day = CAST(:day AS date)
       AND subject IN (SELECT decode(s, 'hex') FROM unnest(CAST(:subjects AS text[])) s)
     ORDER BY mail_counts.subject FOR UPDATE`,
    bindings,
  )
  const used: MailCounts = new Map(rows.map(row => [hashes.get(row.subject)!, row.used]))
  const refusals = requests.map(request => admitMail(request, used, limits))
  await execute(
    tx,
    `UPDATE mail_counts c SET used = r.used
     FROM jsonb_to_recordset(:rows::jsonb) AS r (subject text, used integer)
     WHERE c.day = CAST(:day AS date) AND c.subject = decode(r.subject, 'hex')`,
    {
      ...bindings,
      rows: JSON.stringify(rows.map(({ subject }) => ({ subject, used: used.get(hashes.get(subject)!) }))),
    },
  )
  return refusals
}

/** Deletes counters from before yesterday, and unconfirmed addresses a month after their link expired. */
export async function pruneMailCounts(db: Db, now: Date): Promise<void> {
  await execute(db, `DELETE FROM mail_counts WHERE day < CAST(? AS date) - 1`, [now.toISOString().slice(0, 10)])
  await execute(
    db,
    `DELETE FROM mail_addresses WHERE confirmed_at IS NULL AND expires_at < CAST(? AS timestamptz) - interval '30 days'`,
    [now],
  )
}
