import { firstIdAt } from '../../foundation/platform/ids.ts'
import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import { LOCK_KEYS } from '../../foundation/platform/postgres/lock-keys.ts'
import type { RetentionRule } from './rules.ts'

/** A batch that waits or runs longer is tried again in the next round. */
const TIMEOUTS_SQL = `set_config('lock_timeout', '1s', true), set_config('statement_timeout', '10s', true)`

/** `after`: the last examined row; null: none is left. `fault`: why the batch was skipped. */
type DeletedBatch = { changed: number; after: string | null; fault?: unknown }

/**
 * Deletes one batch of a rule in its own transaction. Null while another process is working. Locked rows are skipped. The
 * others are locked before the rule is checked, so that new references to them are seen or wait. A batch that cannot be
 * deleted is skipped, and the next one may follow.
 */
export async function deleteBatch(
  db: Db,
  rule: RetentionRule,
  before: Date,
  after: string,
): Promise<DeletedBatch | null> {
  const started: DeletedBatch[] = []
  try {
    return await db.transaction(async tx => {
      const [lock] = await query<{ isAcquired: boolean }>(
        tx,
        `SELECT pg_try_advisory_xact_lock(${LOCK_KEYS.retention}) AS "isAcquired", ${TIMEOUTS_SQL}`,
      )
      if (!lock!.isAcquired) return null
      const bindings = { before, first: firstIdAt(before) }
      const found = await listCandidates(tx, rule, { ...bindings, after })
      const isLast = found.length < rule.batchSize
      if (rule.order !== null) started.push({ changed: 0, after: isLast ? null : found.at(-1)!.reached })
      const places = found.map(({ place }) => place)
      const changed = places.length === 0 ? 0 : await applyRule(tx, rule, { ...bindings, places })
      return { changed, after: started[0] ? started[0].after : isLast || changed === 0 ? null : after }
    })
  } catch (error) {
    if (started[0]) return { ...started[0], fault: error }
    throw error
  }
}

type Bindings = { before: Date; first: string }

function listCandidates(tx: Tx, rule: RetentionRule, bindings: Bindings & { after: string }) {
  const { column } = rule.order ?? { column: 'ctid' }
  const continued = rule.order === null ? '' : `AND t.${column} > :after ORDER BY t.${column}`
  return query<{ place: string; reached: string }>(
    tx,
    `SELECT t.ctid::text AS place, t.${column}::text AS reached FROM ${rule.table} t
     WHERE ${rule.candidates} ${continued} LIMIT :limit`,
    { ...bindings, limit: rule.batchSize },
  )
}

/** A row that was changed meanwhile has another ctid; the next round examines it again. */
async function applyRule(tx: Tx, rule: RetentionRule, bindings: Bindings & { places: string[] }): Promise<number> {
  const due = `t.ctid = ANY (CAST(:places AS tid[])) AND ${rule.condition}`
  const locked = await query<{ place: string }>(
    tx,
    `SELECT t.ctid::text AS place FROM ${rule.table} t WHERE ${due} FOR UPDATE OF t SKIP LOCKED`,
    bindings,
  )
  const places = locked.map(({ place }) => place)
  if (places.length === 0) return 0
  const statement = rule.change
    ? `UPDATE ${rule.table} t SET ${rule.change} WHERE ${due}`
    : `DELETE FROM ${rule.table} t WHERE ${due}`
  return execute(tx, statement, { ...bindings, places })
}

/** The earlier of PostgreSQL's and this process's time, so that a clock that is ahead deletes nothing. */
export async function loadEarlierNow(db: Db, now: Date): Promise<Date> {
  const [row] = await query<{ now: Date }>(db, 'SELECT least(clock_timestamp(), CAST(? AS timestamptz)) AS now', [now])
  return row!.now
}

/** The age of the oldest row; null without rows. */
export async function loadOldestAgeMs(db: Db, rule: RetentionRule, now: Date): Promise<number | null> {
  if (rule.age === null) return null
  const { column, among = 'true' } = rule.age
  const [row] = await query<{ at: Date | null }>(
    db,
    `SELECT t.${column} AS at FROM ${rule.table} t WHERE ${among} ORDER BY t.${rule.order?.column ?? column} LIMIT 1`,
  )
  return row?.at ? now.getTime() - row.at.getTime() : null
}
