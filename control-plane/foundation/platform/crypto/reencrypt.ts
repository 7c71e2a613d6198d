import { type Db, execute, isUniqueViolation, query } from '../postgres/client.ts'
import type { SecretCipher } from './encryption.ts'

/** A row of a table with encrypted values: the columns of `key` and `needs`. */
export type EncryptedRow = Record<string, string>

/** A column with encrypted values. operations/admin/encrypted-columns.ts lists all of them, which a test checks. */
export type EncryptedColumn = {
  table: string
  column: string
  /** the columns of its primary key */
  key: string[]
  /** other columns that the binding or `derived` uses */
  needs: string[]
  /** the binding of a value, as where it is encrypted */
  getBinding(row: EncryptedRow): string
  /** columns that are computed from the plain text and the key, and change with them */
  derived?(row: EncryptedRow, plain: string, key: Buffer): Record<string, Buffer>
  /** resolves a unique violation of a derived column */
  resolveConflict?(db: Db, row: EncryptedRow, derived: Record<string, Buffer>): Promise<unknown>
}

export type RotationKeys = {
  /** with the new key alone */
  to: SecretCipher
  newKey: Buffer
  /** with the previous key; null: rows are only counted */
  from: SecretCipher | null
}

/** `lost`: rows that no key decrypts, as `table.column key`. */
export type ReencryptionResult = { ready: number; reencrypted: number; lost: string[] }

const ROWS_PER_BATCH = 500

/**
 * Encrypts the values of a column with the new key, row by row, so it may be interrupted and repeated. A value that is
 * changed meanwhile is not overwritten. See docs/design/encryption.md#key-rotation.
 */
export async function reencryptColumn(
  db: Db,
  column: EncryptedColumn,
  keys: RotationKeys,
): Promise<ReencryptionResult> {
  const result: ReencryptionResult = { ready: 0, reencrypted: 0, lost: [] }
  let last: EncryptedRow | null = null
  for (;;) {
    const rows = await readRows(db, column, last)
    for (const { encrypted, ...row } of rows) {
      const outcome = await reencryptRow(db, column, row as EncryptedRow, encrypted as Buffer, keys)
      if (outcome !== 'lost') result[outcome] += 1
      else result.lost.push(`${column.table}.${column.column} ${column.key.map(name => row[name]).join(' ')}`)
    }
    if (rows.length < ROWS_PER_BATCH) return result
    last = rows.at(-1) as EncryptedRow
  }
}

const MAX_NEWEST = 20

/** Whether `secrets` decrypts one of the newest values of a column, by its key; null: it has no values. */
export async function decryptsNewest(db: Db, column: EncryptedColumn, secrets: SecretCipher): Promise<boolean | null> {
  const rows = await query<Row>(
    db,
    `${selectValues(column)} ORDER BY ${column.key.map(name => `"${name}" DESC`).join(', ')} LIMIT ${MAX_NEWEST}`,
  )
  if (rows.length === 0) return null
  return rows.some(({ encrypted, ...row }) => {
    const binding = column.getBinding(row as EncryptedRow)
    return tryDecrypt(secrets, encrypted as Buffer, binding) !== null
  })
}

type Row = Record<string, string | Buffer>

/** Empty bytes mean that there is no value. */
function readRows(db: Db, column: EncryptedColumn, last: EncryptedRow | null): Promise<Row[]> {
  const { key } = column
  const after = last === null ? '' : `AND (${quoteColumns(key)}) > (${key.map(() => '?').join(', ')})`
  const bindings = last === null ? [] : key.map(name => last[name]!)
  return query<Row>(
    db,
    `${selectValues(column)} ${after} ORDER BY ${quoteColumns(key)} LIMIT ${ROWS_PER_BATCH}`,
    bindings,
  )
}

const selectValues = ({ table, column, key, needs }: EncryptedColumn) =>
  `SELECT ${quoteColumns([...new Set([...key, ...needs])])}, "${column}" AS encrypted FROM "${table}"
   WHERE length("${column}") > 0`

async function reencryptRow(
  db: Db,
  column: EncryptedColumn,
  row: EncryptedRow,
  encrypted: Buffer,
  { to, newKey, from }: RotationKeys,
) {
  const binding = column.getBinding(row)
  if (tryDecrypt(to, encrypted, binding) !== null) return 'ready'
  const plain = from && tryDecrypt(from, encrypted, binding)
  if (plain === null) return 'lost'
  const derived = column.derived?.(row, plain, newKey) ?? {}
  const values = { [column.column]: to.encrypt(plain, binding), ...derived }
  const write = () => writeRow(db, column, row, encrypted, values)
  await write().catch(async error => {
    if (!isUniqueViolation(error) || !column.resolveConflict) throw error
    await column.resolveConflict(db, row, derived)
    await write()
  })
  return 'reencrypted'
}

/** Overwrites only the value that was read. */
function writeRow(db: Db, { table, column, key }: EncryptedColumn, row: EncryptedRow, before: Buffer, values: object) {
  const set = Object.keys(values).map(name => `"${name}" = ?`)
  const where = [...key.map(name => `"${name}" = ?`), `"${column}" = ?`]
  return execute(db, `UPDATE "${table}" SET ${set.join(', ')} WHERE ${where.join(' AND ')}`, [
    ...Object.values(values),
    ...key.map(name => row[name]!),
    before,
  ])
}

/** Null when the value was encrypted with another key. */
function tryDecrypt(secrets: SecretCipher, encrypted: Buffer, binding: string): string | null {
  try {
    return secrets.decrypt(encrypted, binding)
  } catch {
    return null
  }
}

const quoteColumns = (columns: string[]) => columns.map(name => `"${name}"`).join(', ')
