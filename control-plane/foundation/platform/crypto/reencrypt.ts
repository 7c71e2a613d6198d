import { type Db, execute, isUniqueViolation, query } from '../postgres/client.ts'
import type { SecretCipher } from './encryption.ts'

/** A row of a table with sealed values: what its key and `needs` name. */
export type EncryptedRow = Record<string, string>

/** A column with sealed values. Every such column of the schema is in admin/sealed-columns.ts; a test looks. */
export type EncryptedColumn = {
  table: string
  column: string
  /** the columns of its primary key */
  key: string[]
  /** other columns that the binding is made of, or `derived` */
  needs: string[]
  /** what a value is bound to, as where it is sealed */
  bindingOf(row: EncryptedRow): string
  /** columns that are made of the plain text and the key, and go with it */
  derived?(row: EncryptedRow, plain: string, key: Buffer): Record<string, Buffer>
  /** makes room where what is derived is taken */
  resolveConflict?(db: Db, row: EncryptedRow, derived: Record<string, Buffer>): Promise<unknown>
}

export type RotationKeys = {
  /** with the new key alone */
  to: SecretCipher
  newKey: Buffer
  /** with the key before; null: nothing is changed, only counted */
  from: SecretCipher | null
}

/** `lost`: rows that no key opens, as `table.column key`. */
export type ReencryptionResult = { ready: number; resealed: number; lost: string[] }

const ROWS_PER_BATCH = 500

/**
 * Seals the values of a column with the new key, each row by itself: it may be ended at any moment and begun again. A value
 * that somebody changes meanwhile is left as they wrote it.
 */
export async function reencryptColumn(
  db: Db,
  column: EncryptedColumn,
  keys: RotationKeys,
): Promise<ReencryptionResult> {
  const done: ReencryptionResult = { ready: 0, resealed: 0, lost: [] }
  let last: EncryptedRow | null = null
  for (;;) {
    const rows = await readRows(db, column, last)
    for (const { sealed, ...row } of rows) {
      const outcome = await reencryptRow(db, column, row as EncryptedRow, sealed as Buffer, keys)
      if (outcome !== 'lost') done[outcome] += 1
      else done.lost.push(`${column.table}.${column.column} ${column.key.map(name => row[name]).join(' ')}`)
    }
    if (rows.length < ROWS_PER_BATCH) return done
    last = rows.at(-1) as EncryptedRow
  }
}

type Row = Record<string, string | Buffer>

/** Empty bytes stand for nothing. */
function readRows(db: Db, { table, column, key, needs }: EncryptedColumn, last: EncryptedRow | null): Promise<Row[]> {
  const after = last === null ? '' : `AND (${quoteColumns(key)}) > (${key.map(() => '?').join(', ')})`
  const bindings = last === null ? [] : key.map(name => last[name]!)
  return query<Row>(
    db,
    `SELECT ${quoteColumns([...new Set([...key, ...needs])])}, "${column}" AS sealed FROM "${table}"
     WHERE length("${column}") > 0 ${after} ORDER BY ${quoteColumns(key)} LIMIT ${ROWS_PER_BATCH}`,
    bindings,
  )
}

async function reencryptRow(
  db: Db,
  column: EncryptedColumn,
  row: EncryptedRow,
  sealed: Buffer,
  { to, newKey, from }: RotationKeys,
) {
  const binding = column.bindingOf(row)
  if (tryDecrypt(to, sealed, binding) !== null) return 'ready'
  const plain = from && tryDecrypt(from, sealed, binding)
  if (plain === null) return 'lost'
  const derived = column.derived?.(row, plain, newKey) ?? {}
  const values = { [column.column]: to.encrypt(plain, binding), ...derived }
  const write = () => writeRow(db, column, row, sealed, values)
  await write().catch(async error => {
    if (!isUniqueViolation(error) || !column.resolveConflict) throw error
    await column.resolveConflict(db, row, derived)
    await write()
  })
  return 'resealed'
}

/** Only over the value that was read. */
function writeRow(db: Db, { table, column, key }: EncryptedColumn, row: EncryptedRow, before: Buffer, values: object) {
  const set = Object.keys(values).map(name => `"${name}" = ?`)
  const where = [...key.map(name => `"${name}" = ?`), `"${column}" = ?`]
  return execute(db, `UPDATE "${table}" SET ${set.join(', ')} WHERE ${where.join(' AND ')}`, [
    ...Object.values(values),
    ...key.map(name => row[name]!),
    before,
  ])
}

/** Null when the key is another one. */
function tryDecrypt(secrets: SecretCipher, sealed: Buffer, binding: string): string | null {
  try {
    return secrets.decrypt(sealed, binding)
  } catch {
    return null
  }
}

const quoteColumns = (columns: string[]) => columns.map(name => `"${name}"`).join(', ')
