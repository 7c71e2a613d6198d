import type { Database, SqlJsStatic, SqlValue } from 'sql.js'
import { validationError } from '../../../../../foundation/web/server/errors.ts'

/** More than the entries that a file may have. */
const MAX_ROWS = 50_000
/** Longer values are left out. The longest that Uptime Kuma needs are bodies and certificates. */
const MAX_VALUE_BYTES = 262_144
const MAGIC = 'SQLite format 3\0'
const HEADER_BYTES = 100

export type Row = Record<string, SqlValue>
/** Reads the rows of a table in the order of their ids, with the named columns that it has. Returns no rows if it does not exist. */
export type ReadTable = (table: string, columns: readonly string[]) => Row[]

export const isSqlite = (bytes: Uint8Array): boolean => Buffer.from(bytes.subarray(0, 16)).toString('latin1') === MAGIC

/**
 * Opens an untrusted database file and calls `work` with a function that reads its tables. Only stored columns
 * of ordinary tables are read: no view, generated column or virtual table of the file is evaluated. Throws 400 for a file
 * that is incomplete or damaged.
 */
export function readTables<T>(sqlite: SqlJsStatic, bytes: Uint8Array, work: (read: ReadTable) => T): T {
  assertComplete(bytes)
  let db: Database | null = null
  try {
    db = new sqlite.Database(bytes)
    db.run('PRAGMA query_only = on; PRAGMA trusted_schema = off; PRAGMA cell_size_check = on')
    const opened = db
    return work((table, columns) => readTable(opened, table, columns))
  } catch (error) {
    // after a trap no function of the module may be called
    if (error instanceof WebAssembly.RuntimeError) db = null
    if (!(error instanceof Error) || error.constructor !== Error) throw error
    throw fileError(`the database is damaged and cannot be read: ${error.message}`)
  } finally {
    db?.close()
  }
}

/** The header contains the size of a page and the number of pages. The number counts only if the last writer updated it. */
function assertComplete(bytes: Uint8Array): void {
  if (bytes.length < HEADER_BYTES) throw fileError('the database is incomplete: its header is missing')
  const header = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES)
  const pageSize = header.getUint16(16) === 1 ? 65_536 : header.getUint16(16)
  const hasPageCount = header.getUint32(24) === header.getUint32(92)
  const expected = pageSize * header.getUint32(28)
  if (!hasPageCount || bytes.length >= expected) return
  throw fileError(`the database is incomplete: it has ${bytes.length} of ${expected} bytes`)
}

function readTable(db: Database, table: string, wanted: readonly string[]): Row[] {
  // a virtual table has no root page
  const [found] = select(db, `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '${table}' AND rootpage > 0`)
  if (!found) return []
  // generated columns are hidden
  const stored = select(db, `SELECT name FROM pragma_table_xinfo('${table}') WHERE hidden = 0`).map(([name]) => name)
  const columns = wanted.filter(name => stored.includes(name))
  if (columns.length === 0) return []
  const bounded = columns.map(name => `CASE WHEN octet_length("${name}") <= ${MAX_VALUE_BYTES} THEN "${name}" END`)
  const rows = select(
    db,
    `SELECT ${bounded.join(', ')} FROM "${table}" NOT INDEXED ORDER BY rowid LIMIT ${MAX_ROWS + 1}`,
  )
  if (rows.length > MAX_ROWS) throw fileError(`the table ${table} must have at most ${MAX_ROWS} rows`)
  return rows.map(row => Object.fromEntries(columns.map((name, i) => [name, row[i] ?? null])))
}

function select(db: Database, sql: string): SqlValue[][] {
  const statement = db.prepare(sql)
  try {
    const rows: SqlValue[][] = []
    while (statement.step()) rows.push(statement.get())
    return rows
  } finally {
    statement.free()
  }
}

/** 400 */
export const fileError = (message: string) => validationError([{ path: '', message }])
