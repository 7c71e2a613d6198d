import knex, { type Knex } from 'knex'
import pg from 'pg'
import type { Log } from '../../shared/log.ts'
import { isFromServer, UnknownCommit, wasCommitted } from './commit.ts'

/** Queries on the pool, or inside a transaction. Rooms take the narrowest of the two that they need. */
export type Db = Knex
export type Tx = Knex.Transaction

// bigint columns (revisions, positions) stay far below 2^53
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/** A client that vanished without a word, or stands still, in a transaction keeps its locks from others for so long. */
const IDLE_IN_TRANSACTION_MS = 10_000

/** A pool of at most `max` connections. The first query opens the first one. */
export function createPostgres(url: string, max = 20): Db {
  return knex({
    client: 'pg',
    connection: {
      connectionString: url,
      application_name: 'picket',
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    },
    pool: { min: 0, max, afterCreate: withoutJit },
    acquireConnectionTimeout: 10_000,
    // knex prints what it throws as well
    log: { warn() {}, error() {}, debug() {}, deprecate() {} },
  })
}

/**
 * Our statements are short, but those that step through an index are estimated high, and compiling one takes longer than
 * many of its runs.
 */
function withoutJit(connection: pg.Client, done: (error: Error | null) => void): void {
  connection.query('SET jit = off', error => done(error))
}

/** A pool for the length of one piece of work. */
export async function withPostgres<T>(url: string, work: (db: Db) => Promise<T>): Promise<T> {
  const db = createPostgres(url, 2)
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

/**
 * The same pool, for work of which the database has to know something: every transaction on it first sets `name` (with a
 * dot in it) until it ends, and a single statement that may write becomes a transaction. It is no query builder. When
 * the connection breaks at a commit, the transaction ends as the database says it did; it throws an UnknownCommit when
 * that is not to be had.
 */
export function withSetting(db: Db, name: string, value: string): Db {
  return withTransactions(db, async (work, config) => {
    const ready: { id: string; answer: Awaited<ReturnType<typeof work>> }[] = []
    try {
      return await db.transaction(async tx => {
        const statement = 'SELECT set_config(?, ?, true), CAST(pg_current_xact_id() AS text) AS id'
        const [row] = await query<{ id: string }>(tx, statement, [name, value])
        const answer = await work(tx)
        ready.push({ id: row!.id, answer })
        return answer
      }, config)
    } catch (error) {
      const [end] = ready
      if (!end || isFromServer(error) || error instanceof UnknownCommit) throw error
      if (await wasCommitted(db, end.id, error)) return end.answer
      throw error
    }
  })
}

/** The same pool; each transaction on it, a single statement too that may write, first does something of its own. */
export function beginningWith(db: Db, first: (tx: Tx) => Promise<unknown>): Db {
  return withTransactions(db, (work, config) =>
    db.transaction(async tx => {
      await first(tx)
      return work(tx)
    }, config),
  )
}

type Begin = <T>(work: (tx: Tx) => Promise<T>, config?: Knex.TransactionConfig) => Promise<T>

function withTransactions(db: Db, begin: Begin): Db {
  const raw = (sql: string, bindings: Knex.RawBinding[] = []) =>
    /^\s*SELECT\b/i.test(sql) ? db.raw(sql, bindings) : begin(async tx => tx.raw(sql, bindings))
  return Object.create(db, { transaction: { value: begin }, raw: { value: raw } })
}

/** Rows of a statement written as SQL. `bindings`: positional `?`, or named `:name`. */
export async function query<Row>(
  db: Db,
  sql: string,
  bindings: Knex.RawBinding[] | Knex.ValueDict = [],
): Promise<Row[]> {
  const result = await db.raw<{ rows: Row[] }>(sql, bindings)
  return result.rows
}

/** How many rows a statement touched. */
export async function execute(db: Db, sql: string, bindings: Knex.RawBinding[] | Knex.ValueDict = []): Promise<number> {
  const result = await db.raw<{ rowCount: number | null }>(sql, bindings)
  return result.rowCount ?? 0
}

/** From now on a transaction waits at most so long for each lock. */
export async function waitAtMost(tx: Tx, lockMs: number): Promise<void> {
  await tx.raw(`SELECT set_config('lock_timeout', ?, true)`, [String(lockMs)])
}

/** True for the error that a unique index raises; with a name, only for that index or constraint. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  const { code, constraint: name } = error as { code?: string; constraint?: string }
  return code === '23505' && (constraint === undefined || name === constraint)
}

/** True for the error that ends one of several transactions which wait for each other; it may be tried again. */
export const isDeadlock = (error: unknown): boolean => (error as { code?: string }).code === '40P01'

/** True for the error that ends a wait for a lock (lock_timeout). */
export const isLockTimeout = (error: unknown): boolean => (error as { code?: string }).code === '55P03'

/** True when PostgreSQL refused what a row holds (SQLSTATE classes 22 and 23), not because something is away. */
export function isRefusedRow(error: unknown): boolean {
  return /^2[23]/.test((error as { code?: string }).code ?? '')
}

export type Listener = { stop(): Promise<void> }

/**
 * Calls `onNotify` for each NOTIFY on one of the channels, and once after each (re)connect, because what was sent
 * meanwhile is gone. Reconnects by itself, a second apart.
 */
export function listen(
  url: string,
  channels: string[],
  onNotify: (channel: string, payload: string) => void,
  log: Log,
): Listener {
  let stopped = false
  let client: pg.Client | null = null
  let timer: NodeJS.Timeout | null = null

  const connect = async () => {
    const mine = new pg.Client({ connectionString: url, application_name: 'picket-listen', keepAlive: true })
    client = mine
    mine.on('error', error => log.warn({ err: error }, 'the listening connection to PostgreSQL broke'))
    mine.on('end', () => {
      if (!stopped) timer = setTimeout(attempt, 1_000)
    })
    mine.on('notification', message => onNotify(message.channel, message.payload ?? ''))
    await mine.connect()
    for (const channel of channels) await mine.query(`LISTEN ${pg.escapeIdentifier(channel)}`)
    for (const channel of channels) onNotify(channel, '')
  }
  const attempt = () => {
    connect().catch(error => {
      if (!stopped) log.warn({ err: error }, 'cannot listen to PostgreSQL yet')
      client?.end().catch(() => {})
    })
  }
  attempt()
  return {
    async stop() {
      stopped = true
      if (timer) clearTimeout(timer)
      await client?.end().catch(() => {})
    },
  }
}
