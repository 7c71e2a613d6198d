import { type Db, execute, isUniqueViolation, query } from './postgres.ts'
import type { Secrets } from './secrets.ts'

/** A row of a table with sealed values: what its key and `needs` name. */
export type SealedRow = Record<string, string>

/** A column with sealed values. Every such column of the schema is in admin/sealed-columns.ts; a test looks. */
export type SealedColumn = {
  table: string
  column: string
  /** the columns of its primary key */
  key: string[]
  /** other columns that the binding is made of, or `derived` */
  needs: string[]
  /** what a value is bound to, as where it is sealed */
  bindingOf(row: SealedRow): string
  /** columns that are made of the plain text and the key, and go with it */
  derived?(row: SealedRow, plain: string, key: Buffer): Record<string, Buffer>
  /** makes room where what is derived is taken */
  makeRoom?(db: Db, row: SealedRow, derived: Record<string, Buffer>): Promise<unknown>
}

export type Keys = {
  /** with the new key alone */
  to: Secrets
  newKey: Buffer
  /** with the key before; null: nothing is changed, only counted */
  from: Secrets | null
}

/** `lost`: rows that no key opens, as `table.column key`. */
export type Resealed = { ready: number; resealed: number; lost: string[] }

const AT_ONCE = 500

/**
 * Seals the values of a column with the new key, each row by itself: it may be ended at any moment and begun again. A value
 * that somebody changes meanwhile is left as they wrote it.
 */
export async function resealColumn(db: Db, column: SealedColumn, keys: Keys): Promise<Resealed> {
  const done: Resealed = { ready: 0, resealed: 0, lost: [] }
  let last: SealedRow | null = null
  for (;;) {
    const rows = await readRows(db, column, last)
    for (const { sealed, ...row } of rows) {
      const outcome = await resealRow(db, column, row as SealedRow, sealed as Buffer, keys)
      if (outcome !== 'lost') done[outcome] += 1
      else done.lost.push(`${column.table}.${column.column} ${column.key.map(name => row[name]).join(' ')}`)
    }
    if (rows.length < AT_ONCE) return done
    last = rows.at(-1) as SealedRow
  }
}

type Row = Record<string, string | Buffer>

/** Empty bytes stand for nothing. */
function readRows(db: Db, { table, column, key, needs }: SealedColumn, last: SealedRow | null): Promise<Row[]> {
  const after = last === null ? '' : `AND (${names(key)}) > (${key.map(() => '?').join(', ')})`
  const bindings = last === null ? [] : key.map(name => last[name]!)
  return query<Row>(
    db,
    `SELECT ${names([...new Set([...key, ...needs])])}, "${column}" AS sealed FROM "${table}"
     WHERE length("${column}") > 0 ${after} ORDER BY ${names(key)} LIMIT ${AT_ONCE}`,
    bindings,
  )
}

async function resealRow(db: Db, column: SealedColumn, row: SealedRow, sealed: Buffer, { to, newKey, from }: Keys) {
  const binding = column.bindingOf(row)
  if (opened(to, sealed, binding) !== null) return 'ready'
  const plain = from && opened(from, sealed, binding)
  if (plain === null) return 'lost'
  const derived = column.derived?.(row, plain, newKey) ?? {}
  const values = { [column.column]: to.seal(plain, binding), ...derived }
  const write = () => writeRow(db, column, row, sealed, values)
  await write().catch(async error => {
    if (!isUniqueViolation(error) || !column.makeRoom) throw error
    await column.makeRoom(db, row, derived)
    await write()
  })
  return 'resealed'
}

/** Only over the value that was read. */
function writeRow(db: Db, { table, column, key }: SealedColumn, row: SealedRow, before: Buffer, values: object) {
  const set = Object.keys(values).map(name => `"${name}" = ?`)
  const where = [...key.map(name => `"${name}" = ?`), `"${column}" = ?`]
  return execute(db, `UPDATE "${table}" SET ${set.join(', ')} WHERE ${where.join(' AND ')}`, [
    ...Object.values(values),
    ...key.map(name => row[name]!),
    before,
  ])
}

/** Null when the key is another one. */
function opened(secrets: Secrets, sealed: Buffer, binding: string): string | null {
  try {
    return secrets.open(sealed, binding)
  } catch {
    return null
  }
}

const names = (columns: string[]) => columns.map(name => `"${name}"`).join(', ')
