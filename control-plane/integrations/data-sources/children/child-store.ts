import { linkDefaultChannels } from '../../../alerting/routing/rules/rule-store.ts'
import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { insertMonitors, lockMonitors } from '../../../monitoring/monitors/store.ts'
import type { StoredMonitor } from '../../../monitoring/monitors/types.ts'
import type { MonitorState } from '../../../verdict/core/types.ts'
import type { ChildKey } from '../evaluation/evaluate.ts'
import { ARCHIVE_AFTER_MS, type StoredChild } from './reconciliation.ts'

type ChildRow = Omit<StoredChild, 'monitor' | 'state'> & { monitorId: string }

/** Returns all monitors of a source, including archived ones, and locks their rows in the order of ids. The caller has locked the source. */
export async function lockChildren(tx: Tx, sourceId: string): Promise<StoredChild[]> {
  const rows = await query<ChildRow>(
    tx,
    `SELECT monitor_id AS "monitorId", field_id AS "fieldId", key, made_name AS "madeName", value,
       missing_since AS "missingSince", archived_at AS "archivedAt"
     FROM data_source_children WHERE data_source_id = ?`,
    [sourceId],
  )
  const ids = rows.map(({ monitorId }) => monitorId)
  const monitors = new Map((await lockMonitors(tx, ids)).map(monitor => [monitor.id, monitor]))
  // read after the locks, because pausing a monitor deletes its state
  const states = await query<{ id: string; state: MonitorState }>(
    tx,
    'SELECT monitor_id AS id, state FROM verdict_states WHERE monitor_id = ANY (?::uuid[])',
    [ids],
  )
  const statesById = new Map(states.map(({ id, state }) => [id, state]))
  return rows.map(({ monitorId, ...row }) => ({
    ...row,
    monitor: monitors.get(monitorId)!,
    state: statesById.get(monitorId) ?? null,
  }))
}

type NewChild = { monitor: StoredMonitor; fieldId: string; key: string; madeName: string; value: string }

/** Stores new monitors and adds rules for the default channels of the project, as for monitors that users create. */
export async function insertChildren(
  tx: Tx,
  source: { id: string; projectId: string },
  children: NewChild[],
  now: Date,
): Promise<void> {
  if (children.length === 0) return
  const monitors = children.map(({ monitor }) => monitor)
  await insertMonitors(tx, monitors)
  await linkDefaultChannels(
    tx,
    source.projectId,
    monitors.map(({ id }) => id),
  )
  const rows = children.map(({ monitor, ...child }) => ({ monitorId: monitor.id, ...child }))
  await execute(
    tx,
    `INSERT INTO data_source_children (monitor_id, data_source_id, field_id, key, made_name, value, last_seen_at)
     SELECT "monitorId", :sourceId, "fieldId", key, "madeName", value, :now
     FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS row ("monitorId" uuid, "fieldId" uuid, key text,
       "madeName" text, value text)`,
    { sourceId: source.id, rows: JSON.stringify(rows), now },
  )
}

/** The settings of a monitor that follow its source. `isRevived`: it returns from the archive and starts without a state. */
type RewrittenMonitor = Pick<StoredMonitor, 'id' | 'name' | 'url' | 'intervalSeconds' | 'timeoutMs'> & {
  isRevived: boolean
}

export async function rewriteMonitors(tx: Tx, monitors: RewrittenMonitor[], now: Date): Promise<void> {
  if (monitors.length === 0) return
  await execute(
    tx,
    `UPDATE monitors m SET name = row.name, url = row.url, interval_seconds = row."intervalSeconds",
       timeout_ms = row."timeoutMs", config_version = config_version + row."isRevived"::integer, updated_at = :now,
       deleted_at = CASE WHEN row."isRevived" THEN NULL ELSE m.deleted_at END
     FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS row (id uuid, name text, url text, "intervalSeconds" integer,
       "timeoutMs" integer, "isRevived" boolean) WHERE m.id = row.id`,
    { rows: JSON.stringify(monitors), now },
  )
}

type SeenChild = Pick<StoredChild, 'madeName' | 'value' | 'missingSince' | 'archivedAt'> & { monitorId: string }

/** Saves the values of monitors. A monitor with a value was in the document. */
export async function saveSeenChildren(tx: Tx, children: SeenChild[], now: Date): Promise<void> {
  if (children.length === 0) return
  await execute(
    tx,
    `UPDATE data_source_children c SET made_name = row."madeName", value = row.value,
       missing_since = row."missingSince", archived_at = row."archivedAt",
       last_seen_at = CASE WHEN row.value IS NULL THEN c.last_seen_at ELSE :now END
     FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS row ("monitorId" uuid, "madeName" text, value text,
       "missingSince" timestamptz, "archivedAt" timestamptz) WHERE c.monitor_id = row."monitorId"`,
    { rows: JSON.stringify(children), now },
  )
}

/**
 * Deletes archived monitors and their history, except those that a status page shows and those of a manual or open
 * incident: a manual incident without monitors would be on all pages. The caller has locked their rows.
 */
export async function pruneMonitors(tx: Tx, monitorIds: string[]): Promise<void> {
  if (monitorIds.length === 0) return
  await execute(
    tx,
    `DELETE FROM monitors m WHERE id = ANY (?::uuid[])
       AND NOT EXISTS (SELECT FROM status_page_components c WHERE c.monitor_id = m.id)
       AND NOT EXISTS (SELECT FROM incident_monitors im JOIN incidents i ON i.id = im.incident_id
                       WHERE im.monitor_id = m.id AND (i.source = 'manual' OR i.resolved_at IS NULL))`,
    [monitorIds],
  )
}

/** Returns sources with monitors whose key was missing for ARCHIVE_AFTER_MS, up to a successful fetch. */
export async function listSourcesWithMissing(db: Db, now: Date, limit: number): Promise<string[]> {
  const rows = await query<{ id: string }>(
    db,
    `SELECT DISTINCT s.id FROM data_source_children c JOIN data_sources s ON s.id = c.data_source_id
     WHERE c.missing_since IS NOT NULL AND c.archived_at IS NULL AND c.missing_since <= :before AND NOT s.is_paused
       AND s.last_success_at >= c.missing_since + :archiveAfterMs * interval '1 millisecond' LIMIT :limit`,
    { before: new Date(now.getTime() - ARCHIVE_AFTER_MS), archiveAfterMs: ARCHIVE_AFTER_MS, limit },
  )
  return rows.map(({ id }) => id)
}

/** The children of a source that are not archived, paused ones included. */
export const listChildKeys = (db: Db, sourceId: string): Promise<ChildKey[]> =>
  query(
    db,
    `SELECT field_id AS "fieldId", key FROM data_source_children WHERE data_source_id = ? AND archived_at IS NULL`,
    [sourceId],
  )

/** A monitor that is neither paused nor archived. History is written for these. */
export type ActiveChild = { sourceId: string; monitorId: string; configVersion: number; fieldId: string; key: string }

export function listActiveChildren(db: Db, sourceIds: string[]): Promise<ActiveChild[]> {
  return query(
    db,
    `SELECT c.data_source_id AS "sourceId", m.id AS "monitorId", m.config_version AS "configVersion",
       c.field_id AS "fieldId", c.key
     FROM data_source_children c JOIN monitors m ON m.id = c.monitor_id
     WHERE c.data_source_id = ANY (?::uuid[]) AND m.deleted_at IS NULL AND NOT m.is_paused`,
    [sourceIds],
  )
}
