import type { Knex } from 'knex'
import { type Db, execute, query, type Tx } from './client.ts'

/**
 * How the rows of a table are leased (docs/design/loops.md#leases). All values are parts of SQL statements, in which `t`
 * is the row.
 */
export type LeasedTable = {
  table: string
  /** column of the primary key; a row whose key changes meanwhile waits for the next round */
  key: string
  /** column with the time from which a row is due; rows that have been due the longest are claimed first */
  dueAt: string
  /** true: a row without a time is due, before all others; otherwise it is never due */
  isNullDue?: boolean
  /** column with the end of the lease; by default `dueAt`, so that the row is due again when its lease ends */
  leaseEnd?: string
  /** how much longer than requested the lease of a row is, in ms */
  extraMs?: string
  /** condition of the rows that may be leased */
  condition?: string
  /** assignments to other columns in a claim */
  changes?: string
  /** column with a value that identifies the claim, or only the process; with another value the lease was lost */
  holder?: string
}

type HeldTable = Pick<LeasedTable, 'table' | 'key'> & { holder: string }

export type LeaseRequest = {
  /** PostgreSQL's time as this process knows it; by default PostgreSQL's clock */
  now?: Date
  /** Longer than the work may take. If the process ends meanwhile, another one can claim the row after this time. */
  leaseMs: number
  /** maximum number of rows */
  limit: number
  /** a value for `changes`, there named `:owner` */
  owner?: string
}

/**
 * Leases due rows and returns `columns` of them, in any order. Rows that are leased, or that another transaction has
 * locked, are skipped without waiting.
 */
export function claimRows<Row>(db: Db, leased: LeasedTable, columns: string, request: LeaseRequest): Promise<Row[]> {
  const { table, key, dueAt, isNullDue, leaseEnd = dueAt, extraMs = '0', changes } = leased
  const now = request.now ? 'CAST(:now AS timestamptz)' : 'clock_timestamp()'
  return query(
    db,
    `WITH claimable (claimed_key) AS (
       SELECT t.${key} ${buildClaimableSql(leased, now)}
       ORDER BY t.${dueAt} ${isNullDue ? 'NULLS FIRST' : ''} LIMIT :limit FOR NO KEY UPDATE SKIP LOCKED
     )
     UPDATE ${table} t SET ${leaseEnd} = ${now} + (CAST(:leaseMs AS float8) + ${extraMs}) * interval '1 ms'
       ${changes ? `, ${changes}` : ''}
     FROM claimable WHERE t.${key} = claimed_key RETURNING ${columns}`,
    { ...request },
  )
}

/**
 * Claims due rows, and deletes those that nothing uses: `isUsed` is an SQL condition of the row `t`. It is checked after the
 * rows are locked, so that a use that was added before is seen. `columns` have to contain the key under its own name.
 */
export function claimUsedRows<Row extends Record<string, unknown>>(
  db: Db,
  leased: LeasedTable,
  columns: string,
  isUsed: string,
  request: LeaseRequest & { now: Date },
): Promise<Row[]> {
  const { table, key } = leased
  return db.transaction(async tx => {
    const claimed = await claimRows<Row>(tx, leased, columns, request)
    const unused = await query<{ deleted: unknown }>(
      tx,
      `DELETE FROM ${table} t WHERE t.${key} = ANY (?) AND NOT ${isUsed} RETURNING t.${key} AS deleted`,
      [claimed.map(row => String(row[key]))],
    )
    const deleted = new Set(unused.map(one => one.deleted))
    return claimed.filter(row => !deleted.has(row[key]))
  })
}

/** SQL: FROM and WHERE of the rows that can be claimed. `now`: the SQL of the time. */
export function buildClaimableSql(leased: LeasedTable, now = ':now'): string {
  const { table, dueAt, isNullDue, condition = 'true' } = leased
  const isDue = isNullDue ? `(t.${dueAt} IS NULL OR t.${dueAt} <= ${now})` : `t.${dueAt} <= ${now}`
  return `FROM ${table} t WHERE ${isDue} AND ${buildUnleasedSql(leased, now)} AND ${condition}`
}

/** SQL condition: the row has no lease, or the lease has ended. */
export const buildUnleasedSql = ({ dueAt, leaseEnd = dueAt }: LeasedTable, now: string): string =>
  leaseEnd === dueAt ? 'true' : `(t.${leaseEnd} IS NULL OR t.${leaseEnd} <= ${now})`

/**
 * Locks those of the rows whose lease was not lost, in the order of keys. Returns `columns` of them. `skipsLocked`: leaves out
 * rows that another transaction has locked instead of waiting.
 */
export function lockHeldRows<Row>(
  tx: Tx,
  { table, key, holder }: HeldTable,
  columns: string,
  { skipsLocked = false, ...held }: { keys: string[]; holder: string | number; skipsLocked?: boolean },
): Promise<Row[]> {
  return query(
    tx,
    `SELECT ${columns} FROM ${table} t WHERE t.${key} = ANY (:keys) AND t.${holder} = :holder
     ORDER BY t.${key} FOR NO KEY UPDATE ${skipsLocked ? 'SKIP LOCKED' : ''}`,
    held,
  )
}

/** Writes to a row; returns false if its lease was lost. `changes`: assignments with `bindings`. */
export async function updateHeldRow(
  db: Db | Tx,
  { table, key, holder }: HeldTable,
  held: { key: string; holder: string | number | Date },
  changes: string,
  bindings: Knex.ValueDict,
): Promise<boolean> {
  const sql = `UPDATE ${table} t SET ${changes} WHERE t.${key} = :key AND t.${holder} = :holder`
  return (await execute(db, sql, { ...bindings, ...held })) === 1
}
