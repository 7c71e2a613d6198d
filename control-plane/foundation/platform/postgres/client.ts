import knex, { type Knex } from 'knex'
import pg from 'pg'
import { newId } from '../ids.ts'
import { isServerError, type PendingCommit, UnknownCommitError, wasCommitted } from './commit-outcome.ts'
import {
  createDeadConnectionDetector,
  createStaleConnectionSignal,
  destroyConnection,
  type QueryLimits,
  type StaleConnectionSignal,
} from './dead-connections.ts'
import { StandbyError } from './read-only.ts'
import { SERVER_HISTORY_SQL } from './server-history.ts'

/** Queries on the pool, or inside a transaction. A function should require the narrower one that it needs. */
export type Db = Knex
export type Tx = Knex.Transaction

// bigint columns (revisions, positions) stay far below 2^53
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/** A client that vanished or is suspended inside a transaction holds its locks for this long. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000
/**
 * A connection that was not used for this long is closed. Longer than the minute after which rare loops run again: opening one
 * costs as much as a hundred queries.
 */
const IDLE_TIMEOUT_MS = 90_000
/** How long a connection may take to apply its settings. */
const MAX_SET_UP_MS = 25_000
/** How often the pool looks for such connections. */
const REAP_INTERVAL_MS = 30_000
/** After this much silence the kernel probes the other host; ten seconds later it gives up. */
const KEEP_ALIVE_DELAY_MS = 5_000

export type PoolOptions = QueryLimits & {
  /** shown in the server's list of connections and in metrics */
  name: string
  max: number
  /** how long a statement waits for a lock; null: without a limit */
  lockMs: number | null
  /** how long a new connection may take until it is set up */
  connectMs: number
  /** how long a query waits for a connection of the pool; longer than `connectMs`, whose error says more */
  acquireMs: number
  /** shared by the pools of a process */
  suspicion: StaleConnectionSignal
}

/** A connection without any sign of life for this long is dead. */
const SILENCE_TIMEOUT_MS = 10_000

/** For work without a time limit that a person waits for, such as a migration, also on a busy server. */
const DEFAULT_OPTIONS = {
  name: 'work',
  max: 20,
  statementMs: null,
  lockMs: null,
  silenceMs: SILENCE_TIMEOUT_MS,
  connectMs: 30_000,
  acquireMs: 40_000,
}

/**
 * A pool of at most `max` connections. The first query opens the first one. A dead connection is noticed within seconds:
 * its query fails as if the connection was reset (docs/design/storage.md#dead-connections). A connection to a standby is
 * refused, so that a pool never keeps one after the address leads to the primary.
 */
export function createPostgres(url: string, options: number | Partial<PoolOptions> = {}): Db {
  const overrides = typeof options === 'number' ? { max: options } : options
  const { max, name, suspicion = createStaleConnectionSignal(), ...limits } = { ...DEFAULT_OPTIONS, ...overrides }
  const connections = createDeadConnectionDetector(url, limits, suspicion)
  return knex({
    client: 'pg',
    // otherwise knex queries it on the first connection, without a time limit
    version: '18',
    connection: {
      connectionString: url,
      application_name: 'picket',
      stream: connections.openSocket,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
      connectionTimeoutMillis: limits.connectMs,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    },
    pool: {
      min: 0,
      max,
      // only ends what `connectMs` did not end
      createTimeoutMillis: limits.connectMs + MAX_SET_UP_MS,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      reapIntervalMillis: REAP_INTERVAL_MS,
      afterCreate(client: pg.Client, done: (error: unknown, client: pg.Client) => void) {
        const applicationName = `picket ${name} ${newId()}`
        connections.watch(client, applicationName)
        const settings = [applicationName, limits.statementMs ?? 0, limits.lockMs ?? 0]
        client.query<{ isStandby: boolean }>(SETTINGS_SQL, settings, (failure, result) => {
          const error = failure ?? (result.rows[0]?.isStandby ? new StandbyError() : null)
          // otherwise it would never be closed
          if (error) destroyConnection(client, 'a connection to PostgreSQL could not be set up')
          done(error, client)
        })
      },
      validate: (client: pg.Client) => connections.isUsable(client),
    } as Knex.PoolConfig,
    acquireConnectionTimeout: limits.acquireMs,
    // knex would print the errors that it throws
    log: { warn() {}, error() {}, debug() {}, deprecate() {} },
  })
}

/**
 * Without jit: the statements are short, but those that walk an index have high cost estimates, and compiling one takes
 * longer than running it many times.
 */
const SETTINGS_SQL = `SELECT set_config('application_name', $1, false), set_config('statement_timeout', $2::text, false),
  set_config('lock_timeout', $3::text, false), set_config('jit', 'off', false), pg_is_in_recovery() AS "isStandby"`

type PoolUsage = { inUse: number; idle: number; waiting: number }

/** Connections of a pool, and queries that wait for one. */
export function getPoolUsage(db: Db): PoolUsage {
  const pool = (db.client as { pool?: Record<'numUsed' | 'numFree' | 'numPendingAcquires', () => number> }).pool
  return { inUse: pool?.numUsed() ?? 0, idle: pool?.numFree() ?? 0, waiting: pool?.numPendingAcquires() ?? 0 }
}

/** A pool that exists while `work` runs. */
export async function withPostgres<T>(
  url: string,
  work: (db: Db) => Promise<T>,
  options: Partial<PoolOptions> = {},
): Promise<T> {
  const db = createPostgres(url, { max: 2, ...options })
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

/**
 * The same pool with a setting: every transaction on it first sets `name` (which contains a dot) until it ends, and a single
 * statement that may write becomes a transaction. It cannot be used as a query builder. When the connection breaks at a
 * commit, the transaction ends as the database reports it, or throws an UnknownCommitError when that cannot be learned
 * (docs/design/storage.md#unknown-commits).
 */
export function withSetting(db: Db, name: string, value: string): Db {
  return withTransactions(db, async (work, config) => {
    const committing: { sent: PendingCommit; answer: Awaited<ReturnType<typeof work>> }[] = []
    try {
      return await db.transaction(async tx => {
        const [sent] = await query<PendingCommit>(tx, BEGIN_SQL, [name, value])
        const answer = await work(tx)
        committing.push({ sent: sent!, answer })
        return answer
      }, config)
    } catch (error) {
      const [attempt] = committing
      if (!attempt || isServerError(error) || error instanceof UnknownCommitError) throw error
      if (await wasCommitted(db, attempt.sent, error)) return attempt.answer
      throw error
    }
  })
}

const BEGIN_SQL = `SELECT set_config(?, ?, true), CAST(pg_current_xact_id() AS text) AS id, ${SERVER_HISTORY_SQL} AS history`

/** The same pool; each transaction on it, also that of a single statement that may write, begins with `first` and ends with `last`. */
export function withTransactionSteps(
  db: Db,
  first: (tx: Tx) => Promise<unknown>,
  last: (tx: Tx) => Promise<unknown> = async () => {},
): Db {
  return withTransactions(db, (work, config) =>
    db.transaction(async tx => {
      await first(tx)
      const result = await work(tx)
      await last(tx)
      return result
    }, config),
  )
}

type BeginTransaction = <T>(work: (tx: Tx) => Promise<T>, config?: Knex.TransactionConfig) => Promise<T>

function withTransactions(db: Db, begin: BeginTransaction): Db {
  const raw = (sql: string, bindings: Knex.RawBinding[] = []) =>
    /^\s*SELECT\b/i.test(sql) ? db.raw(sql, bindings) : begin(async tx => tx.raw(sql, bindings))
  return Object.create(db, { transaction: { value: begin }, raw: { value: raw } })
}

/** Fails when PostgreSQL does not answer or accepts no writes: with a StandbyError, or with the code of a refused write. */
export const pingPrimary = (db: Db): Promise<unknown> => db.raw(PING_SQL)

/** An error of the server, so that the connection is replaced as after a refused write. */
const PING_SQL = `DO $$ BEGIN
  IF current_setting('transaction_read_only') = 'on' THEN
    RAISE read_only_sql_transaction USING MESSAGE = 'default_transaction_read_only is on';
  END IF;
END $$`

/** The rows of an SQL statement. `bindings`: positional `?`, or named `:name`. */
export async function query<Row>(
  db: Db,
  sql: string,
  bindings: Knex.RawBinding[] | Knex.ValueDict = [],
): Promise<Row[]> {
  const result = await db.raw<{ rows: Row[] }>(sql, bindings)
  return result.rows
}

/**
 * The same for a statement that runs every few seconds: each connection plans it once, under this name. The types of its
 * columns never change while a process runs, not by a migration either.
 */
export async function queryPrepared<Row>(
  db: Db,
  name: string,
  sql: string,
  bindings: Knex.RawBinding[] | Knex.ValueDict = [],
): Promise<Row[]> {
  const result = await db.raw<{ rows: Row[] }>(sql, bindings).options({ name })
  return result.rows
}

/** Whether a SELECT finds a row: one query outside of a transaction. */
export async function hasRows(
  db: Db,
  select: string,
  bindings: Knex.RawBinding[] | Knex.ValueDict = [],
): Promise<boolean> {
  const [row] = await query<{ hasRow: boolean }>(db, `SELECT EXISTS (${select}) AS "hasRow"`, bindings)
  return row!.hasRow
}

/** Runs a statement and returns the number of affected rows. */
export async function execute(db: Db, sql: string, bindings: Knex.RawBinding[] | Knex.ValueDict = []): Promise<number> {
  const result = await db.raw<{ rowCount: number | null }>(sql, bindings)
  return result.rowCount ?? 0
}

/** Limits how long the rest of a transaction waits for each lock. */
export async function setLockTimeout(tx: Tx, lockMs: number): Promise<void> {
  await tx.raw(`SELECT set_config('lock_timeout', ?, true)`, [String(lockMs)])
}

/** Limits how long each later statement of a transaction takes, where the limit of the pool is too long. */
export async function setStatementTimeout(tx: Tx, statementMs: number): Promise<void> {
  await tx.raw(`SELECT set_config('statement_timeout', ?, true)`, [String(statementMs)])
}

/** True for the error of a unique index; with a name, only for that index or constraint. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  const { code, constraint: name } = error as { code?: string; constraint?: string }
  return code === '23505' && (constraint === undefined || name === constraint)
}

/** True for a deadlock; the transaction may be repeated. */
export const isDeadlock = (error: unknown): boolean => (error as { code?: string }).code === '40P01'

/** True when a wait for a lock exceeded lock_timeout. */
export const isLockTimeout = (error: unknown): boolean => (error as { code?: string }).code === '55P03'

/** True when PostgreSQL rejected the content of a row (SQLSTATE classes 22 and 23). */
export function isInvalidRowError(error: unknown): boolean {
  return /^2[23]/.test((error as { code?: string }).code ?? '')
}

/** True for errors caused by the content of some rows: PostgreSQL rejected it, or our code cannot process it. */
export const isContentError = (error: unknown): boolean =>
  isInvalidRowError(error) || error instanceof TypeError || error instanceof RangeError

/** True for errors caused by the rows of one tenant, so that the others can be stored without it. */
export const isTenantError = (error: unknown): boolean => isLockTimeout(error) || isContentError(error)
