import type { MonitorType } from '../../../../shared/checks/check.ts'
import { parseTarget } from '../../../../shared/checks/target.ts'
import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { hasRowsJoined } from '../../../foundation/platform/postgres/joined-reads.ts'
import type { NewDisagreement, ProbeDisagreement } from './outlier.ts'

/** Probes belong to the operator, not to a project. Of a tenant's data only the hosts of monitors are read. */

/** How long a drained probe gets no work. */
export const DRAIN_DURATION_MS = 3_600_000

/** Records which probes contradicted each other. Rows that already exist do not change. */
export async function insertDisagreements(db: Db | Tx, rows: NewDisagreement[]): Promise<void> {
  if (rows.length === 0) return
  await execute(
    db,
    `INSERT INTO probe_disagreements (monitor_id, region, scheduled_at, probe_id, other_probe_id, odd_probe_id, at)
     SELECT "monitorId", region, to_timestamp("scheduledAtMs" / 1000), "probeId", "otherProbeId", "oddProbeId",
       to_timestamp("atMs" / 1000)
     FROM jsonb_to_recordset(?::jsonb) AS row ("monitorId" uuid, region text, "scheduledAtMs" float8, "probeId" uuid,
       "otherProbeId" uuid, "oddProbeId" uuid, "atMs" float8)
     ON CONFLICT DO NOTHING`,
    [JSON.stringify(rows)],
  )
}

/** Lists regions with disagreements about at least `monitors` monitors within a window. */
export async function listDisagreeingRegions(db: Db, windowMs: number, monitors: number): Promise<string[]> {
  const rows = await query<{ region: string }>(
    db,
    `SELECT region FROM probe_disagreements WHERE at > now() - :windowMs * interval '1 millisecond'
     GROUP BY region HAVING count(DISTINCT monitor_id) >= :monitors ORDER BY region`,
    { windowMs, monitors },
  )
  return rows.map(({ region }) => region)
}

/** Whether a probe is drained, or probes disagreed within a window. */
export const hasDrainWork = (db: Db, windowMs: number): Promise<boolean> =>
  hasRowsJoined(
    db,
    `SELECT FROM probe_disagreements WHERE at > now() - :windowMs * interval '1 millisecond'
     UNION ALL SELECT FROM probes WHERE drained_until > now()`,
    { windowMs },
  )

type DisagreementRow = Omit<ProbeDisagreement, 'target'> & {
  monitorId: string
  type: MonitorType | null
  url: string | null
}

/** Lists a region's disagreements within a window, each monitor and pair once. */
export async function listDisagreements(db: Db, region: string, windowMs: number): Promise<ProbeDisagreement[]> {
  const rows = await query<DisagreementRow>(
    db,
    `SELECT DISTINCT d.monitor_id AS "monitorId", m.type, m.url, d.probe_id AS "probeId",
       d.other_probe_id AS "otherProbeId", d.odd_probe_id AS "oddProbeId"
     FROM probe_disagreements d LEFT JOIN monitors m ON m.id = d.monitor_id
     WHERE d.region = :region AND d.at > now() - :windowMs * interval '1 millisecond'`,
    { region, windowMs },
  )
  return rows.map(({ monitorId, type, url, ...row }) => ({ ...row, target: findHost(type, url) ?? monitorId }))
}

/** Null for a monitor that is deleted, or has no host. */
function findHost(type: MonitorType | null, url: string | null): string | null {
  const target = type === null || url === null ? null : parseTarget(type, url)
  return target !== null && 'host' in target ? target.host : null
}

/** Deletes disagreements that are too old to count. */
export const pruneDisagreements = (db: Db) =>
  execute(db, `DELETE FROM probe_disagreements WHERE at < now() - interval '1 day'`)

export const drainProbe = (tx: Tx, probeId: string, reason: string, forMs: number) =>
  execute(
    tx,
    `UPDATE probes SET drain_reason = :reason, drained_until = now() + :forMs * interval '1 millisecond'
     WHERE id = :probeId`,
    { probeId, reason, forMs },
  )

/** Ends a drain and deletes the disagreements that led to it. Returns false when the probe is not drained. */
export async function endDrain(tx: Tx, probeId: string): Promise<boolean> {
  await execute(tx, 'DELETE FROM probe_disagreements WHERE :probeId IN (probe_id, other_probe_id)', { probeId })
  const ended = await execute(
    tx,
    'UPDATE probes SET drained_until = NULL, drain_reason = NULL WHERE id = ? AND drained_until > now()',
    [probeId],
  )
  return ended > 0
}

type DrainedProbe = { id: string; name: string; region: string; reason: string; drainedUntil: Date }

/** Lists the probes that are drained now. */
export function listDrainedProbes(db: Db): Promise<DrainedProbe[]> {
  return query(
    db,
    `SELECT p.id, p.name, p.region, p.drain_reason AS reason, p.drained_until AS "drainedUntil"
     FROM probes p JOIN probe_tokens t ON t.id = p.token_id
     WHERE p.drained_until > now() AND p.revoked_at IS NULL AND t.revoked_at IS NULL ORDER BY p.id`,
  )
}
