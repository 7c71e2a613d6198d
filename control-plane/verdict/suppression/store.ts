import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import { loadActiveSilences } from '../silences/store.ts'
import { type Ancestor, buildSuppressionConditions, findCause } from './ancestors.ts'
import type { ReviewState, SuppressionConditions, SuppressionReason } from './review.ts'
import type { SuppressedChanges } from './suppressed.ts'
import type { CheckTiming } from './timing.ts'

/** A row of `silences`. Reason `turn`: no reason is left, and the worker is about to send. */
export type Silence = ReviewState & {
  monitorId: string
  withheld: SuppressedChanges
  reason: SuppressionReason | 'turn'
  isAsked: boolean
  /** when an outage is sent although its status may be out of date; null while it has another reason to wait */
  sendBy: Date | null
  dueAt: Date
}

const COLUMNS = `monitor_id AS "monitorId", withheld, reason, is_parent_down AS "isParentDown",
  grace_until AS "graceUntil", doubt_until AS "doubtUntil", is_asked AS "isAsked", is_answered AS "isAnswered",
  send_by AS "sendBy", due_at AS "dueAt"`

/**
 * The monitors of which nothing is to be sent now: in maintenance or silenced, below an ancestor that is down, or with withheld
 * events. For events that the verdict does not publish. Areas that may not import this file use the SQL function.
 */
export async function listSilencedMonitors(db: Db, monitorIds: string[], now: Date): Promise<Set<string>> {
  const sql = 'SELECT silenced_monitors(CAST(:monitorIds AS uuid[]), :now) AS id'
  return new Set((await query<{ id: string }>(db, sql, { monitorIds, now })).map(({ id }) => id))
}

/** The silences of monitors whose rows the caller has locked. */
export async function lockSilences(tx: Tx, monitorIds: string[]): Promise<Map<string, Silence>> {
  const rows = await query<Silence>(
    tx,
    `SELECT ${COLUMNS} FROM silences WHERE monitor_id = ANY (?::uuid[]) ORDER BY monitor_id FOR UPDATE`,
    [monitorIds],
  )
  return new Map(rows.map(row => [row.monitorId, row]))
}

export async function storeSilences(tx: Tx, silences: Silence[]): Promise<void> {
  if (silences.length === 0) return
  await execute(
    tx,
    `INSERT INTO silences (monitor_id, withheld, reason, is_parent_down, grace_until, doubt_until, is_asked,
       is_answered, send_by, due_at)
     SELECT "monitorId", withheld, reason, "isParentDown", "graceUntil", "doubtUntil", "isAsked", "isAnswered", "sendBy", "dueAt"
     FROM jsonb_to_recordset(?::jsonb) AS row ("monitorId" uuid, withheld jsonb, reason text, "isParentDown" boolean,
       "graceUntil" timestamptz, "doubtUntil" timestamptz, "isAsked" boolean, "isAnswered" boolean,
       "sendBy" timestamptz, "dueAt" timestamptz)
     ORDER BY "monitorId"
     ON CONFLICT (monitor_id) DO UPDATE SET withheld = excluded.withheld, reason = excluded.reason,
       is_parent_down = excluded.is_parent_down, grace_until = excluded.grace_until,
       doubt_until = excluded.doubt_until, is_asked = excluded.is_asked, is_answered = excluded.is_answered,
       send_by = excluded.send_by, due_at = excluded.due_at`,
    [JSON.stringify(silences)],
  )
  await query(tx, `SELECT pg_notify('silences', '')`)
}

export async function deleteSilences(tx: Tx, monitorIds: string[]): Promise<void> {
  await execute(tx, 'DELETE FROM silences WHERE monitor_id = ANY (?::uuid[])', [monitorIds])
}

const CHECK_TIMING = `a.interval_seconds AS "intervalSeconds", a.timeout_ms AS "timeoutMs", a.retry_count AS "retryCount",
  a.heartbeat_interval AS "heartbeatInterval", a.type = 'heartbeat' AS "isHeartbeat"`

/** A monitor with withheld events. */
export type SilencedMonitor = CheckTiming & { id: string }

/**
 * The monitors of at most `limit` silences that are due, the longest due first. Leaves out those that another transaction has
 * locked, so that many of one tenant do not delay the others. Holds no lock afterwards.
 */
export async function listDueSilences(db: Db, now: Date, limit: number): Promise<string[]> {
  const rows = await query<{ id: string }>(
    db,
    `SELECT a.id FROM silences s JOIN monitors a ON a.id = s.monitor_id
     WHERE s.due_at <= :now ORDER BY s.due_at LIMIT :limit FOR UPDATE OF a, s SKIP LOCKED`,
    { now, limit },
  )
  return rows.map(({ id }) => id)
}

/**
 * Locks those of the monitors whose silences are due, because monitors are always locked first. Skips monitors that another
 * transaction has locked, also one that edits an incident of the monitor. The work ends with the transaction, so no lease is
 * needed.
 * `isOutdated`: the stored status may be out of date (docs/design/results.md#outdated-statuses).
 */
export function lockDueMonitors(
  tx: Tx,
  monitorIds: string[],
  now: Date,
): Promise<(SilencedMonitor & { isOutdated: boolean })[]> {
  return query(
    tx,
    `SELECT a.id, ${CHECK_TIMING}, a.id IN (SELECT outdated_monitors(CAST(:monitorIds AS uuid[]))) AS "isOutdated"
     FROM monitors a
     WHERE id IN (SELECT monitor_id FROM silences WHERE monitor_id = ANY (CAST(:monitorIds AS uuid[])) AND due_at <= :now)
     ORDER BY id FOR UPDATE SKIP LOCKED`,
    { monitorIds, now },
  )
}

/** Reviews a silence later. Returns 0 when another transaction holds it, else 1. */
export function postponeReview(db: Db, monitorId: string, until: Date): Promise<number> {
  return execute(
    db,
    `UPDATE silences SET due_at = :until WHERE monitor_id IN (
       SELECT monitor_id FROM silences WHERE monitor_id = :monitorId FOR UPDATE SKIP LOCKED)`,
    { monitorId, until },
  )
}

/** A change of a vote that decides nothing is stored within this time, in ms (docs/design/results.md#commit). */
const MAX_STORE_DELAY_MS = 120_000

/**
 * All ancestors of monitors that are not deleted, with their current state. A failure in a region that has not answered
 * since its vote expired, because it has no probe or was removed, does not count.
 */
export function listAncestors(db: Db, monitorIds: string[], now: Date): Promise<Ancestor[]> {
  return query(
    db,
    `SELECT line.monitor_id AS "monitorId", line.ancestor_id AS "ancestorId", line.distance, a.status, ${CHECK_TIMING},
       a.status IS DISTINCT FROM 'down' AND NOT a.is_paused AND EXISTS (
         SELECT FROM verdict_states v, jsonb_array_elements(v.state->'cells') cell
         WHERE v.monitor_id = a.id AND (cell->>'state' = 'failing' OR (cell->>'failures')::integer > 0)
           AND (a.type = 'heartbeat' OR a.data_source_id IS NOT NULL OR (cell->>'votedAtMs')::double precision >
             CAST(:newestMs AS double precision) - 3000 * a.interval_seconds - least(a.timeout_ms, 1000 * a.interval_seconds))
       ) AS "isFailing",
       a.status IN ('up', 'degraded') AND a.type <> 'heartbeat' AND a.data_source_id IS NULL AND a.url IS NOT NULL
         AND NOT a.is_paused AS "isAskable"
     FROM ancestors_of(CAST(:monitorIds AS uuid[])) line JOIN monitors a ON a.id = line.ancestor_id`,
    { monitorIds, newestMs: now.getTime() - MAX_STORE_DELAY_MS },
  )
}

/** Why events of a monitor may be withheld now, and the ancestor that is the cause. */
export type SuppressionContext = { conditions: SuppressionConditions; causedBy: string | null }

export async function loadSuppressionContexts(
  db: Db,
  monitorIds: string[],
  now: Date,
): Promise<(monitorId: string) => SuppressionContext> {
  const ends = await loadMaintenanceEnds(db, monitorIds, now)
  const silenced = await loadActiveSilences(db, monitorIds, now)
  const ancestorsById = new Map<string, Ancestor[]>()
  for (const one of await listAncestors(db, monitorIds, now))
    ancestorsById.set(one.monitorId, [...(ancestorsById.get(one.monitorId) ?? []), one])
  return id => {
    const ancestors = ancestorsById.get(id) ?? []
    const conditions = buildSuppressionConditions(ancestors, ends.get(id) ?? null, silenced.get(id)?.until ?? null)
    return { conditions, causedBy: findCause(ancestors) }
  }
}

async function loadMaintenanceEnds(db: Db, monitorIds: string[], now: Date): Promise<Map<string, Date>> {
  const rows = await query<{ id: string; until: Date }>(
    db,
    `SELECT monitor_id AS id, max(ends_at) AS until FROM maintenance_periods
     WHERE monitor_id = ANY (CAST(:monitorIds AS uuid[])) AND starts_at <= :now AND ends_at > :now
     GROUP BY monitor_id`,
    { monitorIds, now },
  )
  return new Map(rows.map(({ id, until }) => [id, until]))
}

/**
 * Schedules an immediate review of the silences of these monitors and of all that depend on them. Locked rows are
 * skipped; they are reviewed within 30 s in any case.
 */
export async function scheduleReview(tx: Tx, monitorIds: string[], now: Date): Promise<void> {
  if (monitorIds.length === 0) return
  const touched = await execute(
    tx,
    `WITH RECURSIVE line (id) AS (
       SELECT unnest(CAST(:monitorIds AS uuid[]))
       UNION
       SELECT p.monitor_id FROM line JOIN monitor_parents p ON p.parent_id = line.id
     ), soon AS (
       SELECT s.monitor_id FROM silences s JOIN line ON line.id = s.monitor_id FOR UPDATE OF s SKIP LOCKED
     )
     UPDATE silences SET due_at = :now FROM soon WHERE silences.monitor_id = soon.monitor_id`,
    { monitorIds, now },
  )
  if (touched > 0) await query(tx, `SELECT pg_notify('silences', '')`)
}

/** The ancestor whose outage caused an outage. */
export type OutageCause = { monitorId: string; transitionId: string; causedBy: string }

/** Stores causes on transitions and on open incidents. */
export async function storeOutageCauses(tx: Tx, causes: OutageCause[]): Promise<void> {
  if (causes.length === 0) return
  const rows = `jsonb_to_recordset(?::jsonb) AS row ("monitorId" uuid, "transitionId" uuid, "causedBy" uuid)`
  const bindings = [JSON.stringify(causes)]
  await execute(
    tx,
    `UPDATE transitions SET caused_by_monitor_id = row."causedBy" FROM ${rows} WHERE transitions.id = row."transitionId"`,
    bindings,
  )
  await execute(
    tx,
    `UPDATE incidents SET caused_by_monitor_id = row."causedBy" FROM ${rows}
     WHERE cause_monitor_id = row."monitorId" AND source = 'automatic' AND resolved_at IS NULL`,
    bindings,
  )
}

/** When the next silence is due for review; null if there is none. */
export async function findNextReviewAt(db: Db): Promise<Date | null> {
  const [row] = await query<{ due: Date | null }>(db, 'SELECT min(due_at) AS due FROM silences')
  return row?.due ?? null
}

/** A silence whose ancestors are checked on request. `doubtUntil` identifies the outage: it is set once for each. */
export type ParentCheck = { monitorId: string; doubtUntil: Date | null }

/**
 * Claims up to `limit` silences whose ancestors have not been checked on request yet. The request is made once, so no
 * lease is needed.
 */
export function claimParentChecks(db: Db, limit: number): Promise<ParentCheck[]> {
  return query(
    db,
    `UPDATE silences SET is_asked = true WHERE monitor_id IN (
       SELECT monitor_id FROM silences WHERE reason = 'doubt' AND NOT is_asked LIMIT ? FOR UPDATE SKIP LOCKED)
     RETURNING monitor_id AS "monitorId", doubt_until AS "doubtUntil"`,
    [limit],
  )
}

/**
 * Records that the ancestors of these monitors were checked and none fails, and schedules a review. Leaves out monitors
 * that have recovered and failed again since the claim: their parents are checked again.
 */
export async function markParentsChecked(db: Db, checks: readonly ParentCheck[], now: Date): Promise<void> {
  if (checks.length === 0) return
  await execute(
    db,
    `UPDATE silences SET is_answered = true, due_at = :now WHERE monitor_id IN (
       SELECT s.monitor_id FROM silences s
       JOIN jsonb_to_recordset(:checks::jsonb) AS row ("monitorId" uuid, "doubtUntil" timestamptz)
         ON row."monitorId" = s.monitor_id AND row."doubtUntil" IS NOT DISTINCT FROM s.doubt_until
       WHERE s.is_asked ORDER BY s.monitor_id FOR UPDATE OF s)`,
    { checks: JSON.stringify(checks), now },
  )
  await query(db, `SELECT pg_notify('silences', '')`)
}
