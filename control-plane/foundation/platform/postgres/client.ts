import knex, { type Knex } from 'knex'
import pg from 'pg'
import { newId } from '../ids.ts'
import { isServerError, UnknownCommitError, wasCommitted } from './commit-outcome.ts'
import {
  createDeadConnectionDetector,
  createStaleConnectionSignal,
  destroyConnection,
  type QueryLimits,
  type StaleConnectionSignal,
} from './dead-connections.ts'

/** Queries on the pool, or inside a transaction. Rooms take the narrowest of the two that they need. */
export type Db = Knex
export type Tx = Knex.Transaction

// bigint columns (revisions, positions) stay far below 2^53
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/** A client that vanished without a word, or stands still, in a transaction keeps its locks from others for so long. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000
const CONNECT_TIMEOUT_MS = 5_000
/** A connection that was not used for 30 s is closed; the pool checks for them at this interval. */
const REAP_INTERVAL_MS = 10_000
/** After so much silence the kernel asks whether the other host is there; ten seconds later it gives up. */
const KEEP_ALIVE_DELAY_MS = 5_000

export type PoolOptions = QueryLimits & {
  /** for people who look at the server's connections, and for metrics */
  name: string
  max: number
  /** how long a statement waits for a lock; null: as long as it may take */
  lockMs: number | null
  /** how long a query waits for a connection of the pool */
  acquireMs: number
  /** shared by the pools of a process */
  suspicion: StaleConnectionSignal
}

/** The server says every second whether it works on a query, so this is the time that it may say nothing. */
const SILENCE_TIMEOUT_MS = 10_000

/** For work that a person waits for, such as a migration: it may take as long as it takes. */
const DEFAULT_OPTIONS = {
  name: 'work',
  max: 20,
  statementMs: null,
  lockMs: null,
  silenceMs: SILENCE_TIMEOUT_MS,
  acquireMs: 10_000,
}

/**
 * A pool of at most `max` connections. The first query opens the first one. A connection that leads nowhere any more is
 * noticed within some seconds: its query ends with an error, as when it is reset (see connection-watch.ts).
 */
export function createPostgres(url: string, options: number | Partial<PoolOptions> = {}): Db {
  const given = typeof options === 'number' ? { max: options } : options
  const { max, name, suspicion = createStaleConnectionSignal(), ...limits } = { ...DEFAULT_OPTIONS, ...given }
  const connections = createDeadConnectionDetector(url, limits, suspicion)
  return knex({
    client: 'pg',
    // else knex asks for it on the first connection, without a limit
    version: '18',
    connection: {
      connectionString: url,
      application_name: 'picket',
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    },
    pool: {
      min: 0,
      max,
      reapIntervalMillis: REAP_INTERVAL_MS,
      afterCreate(client: pg.Client, done: (error: unknown, client: pg.Client) => void) {
        const own = `picket ${name} ${newId()}`
        connections.watch(client, own)
        client.query(SETTINGS_SQL, [own, limits.statementMs ?? 0, limits.lockMs ?? 0], error => {
          // else it would never be closed
          if (error) destroyConnection(client, 'a connection to PostgreSQL could not be set up')
          done(error, client)
        })
      },
      validate: (client: pg.Client) => connections.isUsable(client),
    } as Knex.PoolConfig,
    acquireConnectionTimeout: limits.acquireMs,
    // knex prints what it throws as well
    log: { warn() {}, error() {}, debug() {}, deprecate() {} },
  })
}

/**
 * Without jit: our statements are short, but those that step through an index are estimated high, and compiling one takes
 * longer than many of its runs.
 */
const SETTINGS_SQL = `SELECT set_config('application_name', $1, false), set_config('statement_timeout', $2::text, false),
  set_config('lock_timeout', $3::text, false), set_config('jit', 'off', false)`

export type PoolUsage = { inUse: number; idle: number; waiting: number }

/** Connections of a pool, and queries that wait for one. */
export function getPoolUsage(db: Db): PoolUsage {
  const pool = (db.client as { pool?: Record<'numUsed' | 'numFree' | 'numPendingAcquires', () => number> }).pool
  return { inUse: pool?.numUsed() ?? 0, idle: pool?.numFree() ?? 0, waiting: pool?.numPendingAcquires() ?? 0 }
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
      if (!end || isServerError(error) || error instanceof UnknownCommitError) throw error
      if (await wasCommitted(db, end.id, error)) return end.answer
      throw error
    }
  })
}

/** The same pool; each transaction on it, a single statement too that may write, first does something of its own. */
export function withTransactionStart(db: Db, first: (tx: Tx) => Promise<unknown>): Db {
  return withTransactions(db, (work, config) =>
    db.transaction(async tx => {
      await first(tx)
      return work(tx)
    }, config),
  )
}

type BeginTransaction = <T>(work: (tx: Tx) => Promise<T>, config?: Knex.TransactionConfig) => Promise<T>

function withTransactions(db: Db, begin: BeginTransaction): Db {
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

/** Whether a SELECT finds anything: one look outside of a transaction, for loops that mostly find nothing. */
export async function hasRows(db: Db, select: string, bindings: Knex.RawBinding[] = []): Promise<boolean> {
  const [row] = await query<{ isThere: boolean }>(db, `SELECT EXISTS (${select}) AS "isThere"`, bindings)
  return row!.isThere
}

/** How many rows a statement touched. */
export async function execute(db: Db, sql: string, bindings: Knex.RawBinding[] | Knex.ValueDict = []): Promise<number> {
  const result = await db.raw<{ rowCount: number | null }>(sql, bindings)
  return result.rowCount ?? 0
}

/** From now on a transaction waits at most so long for each lock. */
export async function setLockTimeout(tx: Tx, lockMs: number): Promise<void> {
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
export function isInvalidRowError(error: unknown): boolean {
  return /^2[23]/.test((error as { code?: string }).code ?? '')
}
