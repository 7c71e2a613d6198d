import { type Db, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { storeCertificates } from '../../control-plane/verdict/expiry/actions.ts'
import type { ObservedCertificate } from '../../control-plane/verdict/reader/counting/certificates.ts'
import { insertChannel, insertMonitor, type MonitorSpec } from './verdict.ts'

export const DAY_MS = 86_400_000

/** A monitor with expiry checks and a webhook channel. */
export async function insertExpiryMonitor(db: Db, projectId: string, spec: MonitorSpec & { url?: string } = {}) {
  const id = await insertMonitor(db, projectId, spec)
  const channelId = await insertChannel(db, projectId, [id])
  const url = spec.url ?? 'https://shop.example.com/'
  await execute(db, 'UPDATE monitors SET ssl_check = true, domain_check = true, url = :url WHERE id = :id', { id, url })
  return { id, channelId }
}

/** A certificate as a region of a probe sees it; `at` is the time. */
export async function observeCertificate(
  db: Db,
  monitorId: string,
  at: Date,
  seen: Partial<ObservedCertificate> & { ends: Date },
): Promise<void> {
  const { ends, ...rest } = seen
  const row = { monitorId, region: 'us-east', configVersion: 1, fingerprint: 'aa', seenAtMs: at.getTime(), ...rest }
  await storeCertificates(db, [{ ...row, expiresAtMs: ends.getTime() }], at)
}

type StoredWarning = { name: string; days: number | null; deliveries: number }

/** The warnings about a monitor in order, with their days. */
export function readExpiryWarnings(db: Db, monitorId: string): Promise<StoredWarning[]> {
  return query(
    db,
    `SELECT name, coalesce(data->>'ssl_expiry_days', data->>'domain_expiry_days')::integer AS days,
       (SELECT count(*) FROM deliveries d WHERE d.event_id = e.id) AS deliveries
     FROM events e WHERE subject = ? AND name LIKE '%expiry' ORDER BY occurred_at, id`,
    [`monitor:${monitorId}`],
  )
}

export async function readExpiryDates(db: Db, monitorId: string): Promise<{ ssl: Date | null; domain: Date | null }> {
  const [row] = await query<{ ssl: Date | null; domain: Date | null }>(
    db,
    'SELECT ssl_expires_at AS ssl, domain_expires_at AS domain FROM monitors WHERE id = ?',
    [monitorId],
  )
  return row!
}
