import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import { LOCK_KEYS } from '../../foundation/platform/postgres/lock-keys.ts'
import type { MonitorSilence, NewSilence } from './types.ts'

const KEPT_MONITORS = `FROM alert_silence_monitors sm JOIN monitors m ON m.id = sm.monitor_id
  WHERE sm.silence_id = s.id AND m.deleted_at IS NULL`

const COLUMNS = `s.id, s.project_id AS "projectId", s.reason, s.ends_at AS "endsAt", s.created_at AS "createdAt",
  ARRAY (SELECT m.id ${KEPT_MONITORS} ORDER BY m.id) AS "monitorIds",
  ARRAY (SELECT m.name ${KEPT_MONITORS} ORDER BY m.id) AS "monitorNames"`

/** A silence whose monitors are all deleted does not exist for readers. */
const HAS_MONITOR = `EXISTS (SELECT ${KEPT_MONITORS})`

/** A condition is null when every silence fulfils it. `isActive`: whether it is in force at `now`. */
type SilenceFilter = { monitorId: string | null; isActive: boolean | null; now: Date }

/** One page of a project's silences, newest first, and their total number. */
export async function listAlertSilences(
  db: Db,
  projectId: string,
  filter: SilenceFilter,
  page: { limit: number; offset: number },
): Promise<{ silences: MonitorSilence[]; total: number }> {
  const { monitorId, isActive, now } = filter
  const conditions = [
    's.project_id = :projectId',
    HAS_MONITOR,
    ...(isActive === null ? [] : [isActive ? 's.ends_at > :now' : 's.ends_at <= :now']),
    ...(monitorId === null
      ? []
      : ['s.id IN (SELECT silence_id FROM alert_silence_monitors WHERE monitor_id = :monitorId)']),
  ]
  const from = `FROM alert_silences s WHERE ${conditions.join(' AND ')}`
  const bindings = { projectId, ...(monitorId !== null && { monitorId }), ...(isActive !== null && { now }) }
  const [count] = await query<{ total: number }>(db, `SELECT count(*) AS total ${from}`, bindings)
  const silences = await query<MonitorSilence>(
    db,
    `SELECT ${COLUMNS} ${from} ORDER BY s.id DESC LIMIT :limit OFFSET :offset`,
    { ...bindings, ...page },
  )
  return { silences, total: count?.total ?? 0 }
}

/** A silence. `id` has to be a valid id. */
export async function findAlertSilence(db: Db, projectId: string, id: string): Promise<MonitorSilence | null> {
  const sql = `SELECT ${COLUMNS} FROM alert_silences s WHERE project_id = ? AND id = ? AND ${HAS_MONITOR}`
  return (await query<MonitorSilence>(db, sql, [projectId, id]))[0] ?? null
}

/** Deletes a silence. Returns its monitors; null when the project has no such silence. `id` has to be a valid id. */
export async function deleteAlertSilence(tx: Tx, projectId: string, id: string): Promise<string[] | null> {
  await query(tx, 'SELECT FROM alert_silences WHERE project_id = ? AND id = ? FOR UPDATE', [projectId, id])
  // in a statement of its own: one that waits for a lock reads the monitors as they were before
  const silence = await findAlertSilence(tx, projectId, id)
  if (!silence) return null
  await execute(tx, 'DELETE FROM alert_silences WHERE id = ?', [id])
  return silence.monitorIds
}

/** Until the transaction ends, no other one that calls this can add silences to the project. */
export async function lockActiveSilences(tx: Tx, projectId: string): Promise<void> {
  await query(tx, `SELECT pg_advisory_xact_lock(${LOCK_KEYS.alertSilences}, hashtext(?))`, [projectId])
}

/** The number of a project's silences that are in force. */
export async function countActiveSilences(db: Db, projectId: string, now: Date): Promise<number> {
  const [row] = await query<{ n: number }>(
    db,
    `SELECT count(*) AS n FROM alert_silences s WHERE project_id = ? AND ends_at > ? AND ${HAS_MONITOR}`,
    [projectId, now],
  )
  return row?.n ?? 0
}

/** Stores a silence, or adds monitors to one that exists. The caller holds the monitors. */
export async function storeAlertSilence(tx: Tx, { monitorIds, ...silence }: NewSilence): Promise<void> {
  await execute(
    tx,
    `INSERT INTO alert_silences (id, project_id, reason, ends_at, created_at)
     VALUES (:id, :projectId, :reason, :endsAt, :createdAt) ON CONFLICT (id) DO NOTHING`,
    silence,
  )
  await execute(
    tx,
    `INSERT INTO alert_silence_monitors (silence_id, monitor_id)
     SELECT :id, monitor_id FROM unnest(CAST(:monitorIds AS uuid[])) AS row (monitor_id) ORDER BY monitor_id
     ON CONFLICT DO NOTHING`,
    { id: silence.id, monitorIds },
  )
}

/** The silence of a monitor that ends last. */
export type ActiveSilence = { monitorId: string; until: Date; reason: string | null }

/** The silences that are in force, by monitor: of each monitor the one that ends last. */
export async function loadActiveSilences(db: Db, monitorIds: string[], now: Date): Promise<Map<string, ActiveSilence>> {
  if (monitorIds.length === 0) return new Map()
  const rows = await query<ActiveSilence>(
    db,
    `SELECT DISTINCT ON (sm.monitor_id) sm.monitor_id AS "monitorId", s.ends_at AS until, s.reason
     FROM alert_silence_monitors sm JOIN alert_silences s ON s.id = sm.silence_id
     WHERE sm.monitor_id = ANY (CAST(:monitorIds AS uuid[])) AND s.ends_at > :now
     ORDER BY sm.monitor_id, s.ends_at DESC, s.id DESC`,
    { monitorIds, now },
  )
  return new Map(rows.map(row => [row.monitorId, row]))
}

/** Removes monitors from the silences that are in force. Silences without monitors are deleted. */
export async function leaveActiveSilences(tx: Tx, monitorIds: string[], now: Date): Promise<void> {
  // in the order of ids, so that transactions that share silences wait for each other
  const silences = await query<{ id: string }>(
    tx,
    `SELECT id FROM alert_silences
     WHERE ends_at > :now AND id IN (
       SELECT silence_id FROM alert_silence_monitors WHERE monitor_id = ANY (CAST(:monitorIds AS uuid[])))
     ORDER BY id FOR UPDATE`,
    { monitorIds, now },
  )
  const silenceIds = silences.map(({ id }) => id)
  if (silenceIds.length === 0) return
  await execute(
    tx,
    `DELETE FROM alert_silence_monitors
     WHERE silence_id = ANY (CAST(:silenceIds AS uuid[])) AND monitor_id = ANY (CAST(:monitorIds AS uuid[]))`,
    { silenceIds, monitorIds },
  )
  await execute(
    tx,
    `DELETE FROM alert_silences s WHERE id = ANY (?::uuid[])
       AND NOT EXISTS (SELECT FROM alert_silence_monitors sm WHERE sm.silence_id = s.id)`,
    [silenceIds],
  )
}
