import type { Knex } from 'knex'
import { type Db, query } from './client.ts'

type Bindings = Knex.RawBinding[] | Knex.ValueDict
type PendingRead = {
  sql: string
  bindings: readonly Knex.RawBinding[]
  resolve(value: unknown): void
  reject(error: unknown): void
}

const pendingByPool = new WeakMap<Db, PendingRead[]>()

/**
 * The value of a SELECT of at most one row and one column; null without a row. What is read on the same pool in the same turn
 * of the event loop is read by one statement. It is for the questions of idle loops, whose rounds start together (`isAligned`
 * in loop.ts), and not for critical loops: an answer comes when the slowest of them has been read. When the statement fails,
 * each value is read by itself.
 */
export function readJoined<Value>(db: Db, select: string, bindings: Bindings = []): Promise<Value | null> {
  const { sql, bindings: values } = db.raw(select, bindings as Knex.ValueDict).toSQL()
  return new Promise<Value | null>((resolve, reject) => {
    const read: PendingRead = { sql, bindings: values, resolve: value => resolve(value as Value | null), reject }
    const pending = pendingByPool.get(db)
    if (pending) return void pending.push(read)
    pendingByPool.set(db, [read])
    setImmediate(() => {
      const reads = pendingByPool.get(db) ?? []
      pendingByPool.delete(db)
      void readTogether(db, reads)
    })
  })
}

/** Whether a SELECT finds a row, read in the same way. */
export async function hasRowsJoined(db: Db, select: string, bindings: Bindings = []): Promise<boolean> {
  return (await readJoined<boolean>(db, `SELECT EXISTS (${select})`, bindings)) === true
}

async function readTogether(db: Db, reads: PendingRead[]): Promise<void> {
  try {
    const columns = reads.map(({ sql }, i) => `(${sql}) AS v${i}`)
    const bindings = reads.flatMap(one => [...one.bindings])
    const [row] = await query<Record<string, unknown>>(db, `SELECT ${columns.join(', ')}`, bindings)
    for (const [i, { resolve }] of reads.entries()) resolve(row![`v${i}`])
  } catch (error) {
    if (reads.length === 1) reads[0]!.reject(error)
    else await Promise.all(reads.map(read => readTogether(db, [read])))
  }
}
