import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import type { MonitorState } from '../core/types.ts'
import { STORING_MS } from './intake/intake-store.ts'
import type { Heartbeat, HeartbeatMonitor, LockedHeartbeat, Ping } from './types.ts'

const MONITOR = `m.id, m.type = 'heartbeat' AS "isHeartbeat", m.config_version AS "configVersion", m.is_paused AS "isPaused",
  m.heartbeat_interval AS interval, m.heartbeat_grace AS grace`

const BY_TOKENS = `FROM monitors m
  WHERE m.ping_token_hash = ANY(CAST(? AS bytea[])) AND m.type = 'heartbeat' AND m.deleted_at IS NULL`

/**
 * Locks the heartbeat monitors of tokens (by SHA-256) in the order of ids like every verdict, and skips those that
 * another transaction has locked: it may take long, and the pings of the others must not wait for it.
 */
export function lockByTokens(tx: Tx, hashes: Buffer[]): Promise<(HeartbeatMonitor & { hash: Buffer })[]> {
  return query(tx, `SELECT ${MONITOR}, m.ping_token_hash AS hash ${BY_TOKENS} ORDER BY m.id FOR UPDATE SKIP LOCKED`, [
    hashes,
  ])
}

/** The tokens that have a heartbeat monitor, locked or not. */
export async function findKnownTokens(tx: Tx, hashes: Buffer[]): Promise<Buffer[]> {
  const rows = await query<{ hash: Buffer }>(tx, `SELECT m.ping_token_hash AS hash ${BY_TOKENS}`, [hashes])
  return rows.map(({ hash }) => hash)
}

/**
 * The time in ms until the first heartbeat can be evaluated by PostgreSQL's clock, 0 or less if one can; null without a
 * deadline.
 */
export async function findFirstDueInMs(db: Db): Promise<number | null> {
  const [row] = await query<{ ms: number | null }>(
    db,
    'SELECT CAST(extract(epoch FROM min(due_at) - clock_timestamp()) * 1000 AS float8) AS ms FROM heartbeats',
  )
  return row!.ms === null ? null : row!.ms + STORING_MS
}

/** By the time of the transaction, so that two statements of it find the same. */
const IS_DUE = `h.due_at <= now() - :storingMs * interval '1 ms'`

/**
 * Locks at most `limit` monitors that seem to have been overdue for `STORING_MS`, and skips those of other processes.
 * `checkOverdue` has to confirm it on the result of `loadHeartbeats`, because a ping may have arrived before the lock. The
 * work ends with the transaction, so no lease is needed.
 */
export function lockDueHeartbeats(tx: Tx, limit: number): Promise<HeartbeatMonitor[]> {
  return query(
    tx,
    `SELECT ${MONITOR} FROM heartbeats h JOIN monitors m ON m.id = h.monitor_id
     WHERE ${IS_DUE} ORDER BY h.due_at LIMIT :limit FOR UPDATE OF m SKIP LOCKED`,
    { storingMs: STORING_MS, limit },
  )
}

/** Heartbeats that are due like those of `lockDueHeartbeats` in the same transaction, and are not among `ids`. */
export async function listOtherDue(tx: Tx, ids: string[], limit: number): Promise<string[]> {
  const rows = await query<{ id: string }>(
    tx,
    `SELECT h.monitor_id AS id FROM heartbeats h JOIN monitors m ON m.id = h.monitor_id
     WHERE ${IS_DUE} AND h.monitor_id <> ALL (CAST(:ids AS uuid[])) LIMIT :limit`,
    { storingMs: STORING_MS, ids, limit },
  )
  return rows.map(({ id }) => id)
}

type HeartbeatRow = {
  id: string
  nowMs: number
  state: MonitorState | null
} & (Heartbeat | { [K in keyof Heartbeat]: null })

const toMs = (column: string) => `CAST(floor(extract(epoch FROM ${column}) * 1000) AS float8)`

/** Heartbeats and verdict states of locked monitors, by id, and PostgreSQL's time. */
export async function loadHeartbeats(
  tx: Tx,
  monitors: HeartbeatMonitor[],
): Promise<{ locked: Map<string, LockedHeartbeat>; nowMs: number }> {
  const rows = await query<HeartbeatRow>(
    tx,
    `SELECT row.id, ${toMs('clock_timestamp()')} AS "nowMs", v.state, h.pings,
       ${toMs('h.last_ping_at')} AS "lastPingAtMs", ${toMs('h.last_success_at')} AS "lastSuccessAtMs",
       ${toMs('h.run_started_at')} AS "runStartedAtMs", ${toMs('h.due_at')} AS "dueAtMs"
     FROM unnest(CAST(? AS uuid[])) AS row (id)
     LEFT JOIN heartbeats h ON h.monitor_id = row.id LEFT JOIN verdict_states v ON v.monitor_id = row.id`,
    [monitors.map(({ id }) => id)],
  )
  const byId = new Map(rows.map(row => [row.id, row]))
  const locked = monitors.map((monitor): [string, LockedHeartbeat] => {
    const { state, pings, lastPingAtMs, lastSuccessAtMs, runStartedAtMs, dueAtMs } = byId.get(monitor.id)!
    const heartbeat = { pings: pings ?? 0, lastPingAtMs, lastSuccessAtMs, runStartedAtMs, dueAtMs }
    return [monitor.id, { monitor, heartbeat, state }]
  })
  return { locked: new Map(locked), nowMs: rows[0]?.nowMs ?? 0 }
}

/** Writes heartbeats by their monitors' ids, all in one statement. */
export async function storeHeartbeats(tx: Tx, heartbeats: (Heartbeat & { id: string })[]): Promise<void> {
  if (heartbeats.length === 0) return
  await execute(
    tx,
    `INSERT INTO heartbeats (monitor_id, pings, last_ping_at, last_success_at, run_started_at, due_at)
     SELECT id, pings, to_timestamp("lastPingAtMs" / 1000), to_timestamp("lastSuccessAtMs" / 1000),
       to_timestamp("runStartedAtMs" / 1000), to_timestamp("dueAtMs" / 1000)
     FROM jsonb_to_recordset(CAST(? AS jsonb)) AS row (id uuid, pings bigint, "lastPingAtMs" float8,
       "lastSuccessAtMs" float8, "runStartedAtMs" float8, "dueAtMs" float8)
     ORDER BY id
     ON CONFLICT (monitor_id) DO UPDATE SET pings = excluded.pings, last_ping_at = excluded.last_ping_at,
       last_success_at = excluded.last_success_at, run_started_at = excluded.run_started_at, due_at = excluded.due_at`,
    [JSON.stringify(heartbeats)],
  )
}

/** Wakes the processes that accept pings: a heartbeat has a deadline now. */
export async function notifyDeadline(tx: Tx): Promise<void> {
  await query(tx, `SELECT pg_notify('heartbeats', '')`)
}

export async function insertPings(tx: Tx, pings: Ping[]): Promise<void> {
  if (pings.length === 0) return
  await execute(
    tx,
    `INSERT INTO pings (monitor_id, number, kind, exit_code, at, run_ms, message, body, arrival_id)
     SELECT "monitorId", number, kind, "exitCode", at, "runMs", message, body, "arrivalId"
     FROM jsonb_to_recordset(CAST(? AS jsonb)) AS row ("monitorId" uuid, number bigint, kind text,
       "exitCode" smallint, at timestamptz, "runMs" bigint, message text, body text, "arrivalId" uuid)`,
    [JSON.stringify(pings)],
  )
}

/** The ids of these arrivals that are stored already as pings of these monitors. */
export async function findStoredArrivals(tx: Tx, monitorIds: string[], arrivalIds: string[]): Promise<Set<string>> {
  const rows = await query<{ id: string }>(
    tx,
    `SELECT arrival_id AS id FROM pings
     WHERE monitor_id = ANY(CAST(:monitorIds AS uuid[])) AND arrival_id = ANY(CAST(:arrivalIds AS uuid[]))`,
    { monitorIds, arrivalIds },
  )
  return new Set(rows.map(({ id }) => id))
}

type PingFilter = { kinds: Ping['kind'][]; from: Date | null; to: Date | null }

/** One page of a monitor's pings, newest first, and their total number. */
export async function listPings(
  db: Db,
  projectId: string,
  monitorId: string,
  { kinds, from, to }: PingFilter,
  page: { limit: number; offset: number },
): Promise<{ pings: Ping[]; total: number }> {
  const bindings = { projectId, monitorId, kinds, from, to, ...page }
  const matching = `FROM pings p JOIN monitors m ON m.id = p.monitor_id
    WHERE m.project_id = :projectId AND p.monitor_id = :monitorId AND p.kind = ANY(:kinds)
      AND (CAST(:from AS timestamptz) IS NULL OR p.at >= :from) AND (CAST(:to AS timestamptz) IS NULL OR p.at < :to)`
  const [counted] = await query<{ total: number }>(db, `SELECT count(*) AS total ${matching}`, bindings)
  const pings = await query<Ping>(
    db,
    `SELECT p.monitor_id AS "monitorId", p.number, p.kind, p.exit_code AS "exitCode", p.at, p.run_ms AS "runMs",
       p.message, p.body, p.arrival_id AS "arrivalId" ${matching} ORDER BY p.number DESC LIMIT :limit OFFSET :offset`,
    bindings,
  )
  return { pings, total: counted?.total ?? 0 }
}

/** The times of the last pings of monitors, by id. Monitors without a ping are missing. */
export async function listLastPings(db: Db, projectId: string, monitorIds: string[]): Promise<Map<string, Date>> {
  const rows = await query<{ id: string; at: Date }>(
    db,
    `SELECT m.id, h.last_ping_at AS at FROM heartbeats h JOIN monitors m ON m.id = h.monitor_id
     WHERE m.project_id = ? AND m.type = 'heartbeat' AND m.id = ANY(CAST(? AS uuid[])) AND h.last_ping_at IS NOT NULL`,
    [projectId, monitorIds],
  )
  return new Map(rows.map(({ id, at }) => [id, at]))
}

/** Keeps the newest `kept` pings of each of these monitors; `pings` is the number of the newest. */
export async function prunePings(tx: Tx, heartbeats: { id: string; pings: number }[], kept: number): Promise<void> {
  if (heartbeats.length === 0) return
  await execute(
    tx,
    `DELETE FROM pings p USING jsonb_to_recordset(CAST(:rows AS jsonb)) AS row (id uuid, pings bigint)
     WHERE p.monitor_id = row.id AND p.number <= row.pings - :kept`,
    { rows: JSON.stringify(heartbeats.map(({ id, pings }) => ({ id, pings }))), kept },
  )
}

/** Locks heartbeat monitors without a ping URL, and skips those of other processes. */
export function lockWithoutToken(tx: Tx, limit: number): Promise<{ id: string; projectId: string }[]> {
  return query(
    tx,
    `SELECT id, project_id AS "projectId" FROM monitors WHERE type = 'heartbeat' AND ping_token IS NULL
     LIMIT ? FOR UPDATE SKIP LOCKED`,
    [limit],
  )
}

export async function storePingToken(
  tx: Tx,
  id: string,
  { pingToken, pingTokenHash }: { pingToken: Buffer; pingTokenHash: Buffer },
): Promise<void> {
  await execute(tx, 'UPDATE monitors SET ping_token = ?, ping_token_hash = ? WHERE id = ?', [
    pingToken,
    pingTokenHash,
    id,
  ])
}
