import { type Db, query, type Tx, withPostgres } from '../../platform/postgres/client.ts'
import { LOCK_KEYS } from '../../platform/postgres/lock-keys.ts'
import { monotonicMs, sleep } from '../../platform/time/clock.ts'
import { MIGRATIONS } from './list.ts'
import { type LockedTable, repeatUntilLocked } from './lock-waits.ts'

type MigrationName = keyof typeof MIGRATIONS

/** What a start waits for. Except for locks, it is reported when it begins and then every 30 s. `seconds`: since it began. */
export type MigrationProgress = { seconds: number } & (
  | { event: 'migration_waiting' }
  | { event: 'migration_running'; migration: string }
  | ({ event: 'migration_locked'; migration: string } & LockedTable)
)

type Report = (progress: MigrationProgress) => void

/** The messages of the log, by event. */
export const MIGRATION_MESSAGES: Record<MigrationProgress['event'], string> = {
  migration_waiting: 'waiting for the migration of another process',
  migration_running: 'migrating PostgreSQL',
  migration_locked:
    'the migration does not get a lock that another session holds, for example a backup; it was rolled back and is repeated',
}

/** For the advisory lock, for the migration, and to read the lock that it waits for. */
const POOL = { max: 3 }

const REPORT_INTERVAL_MS = 30_000

/** Reports at the start of `work`, and repeatedly until it ends. */
async function reportWhile<T>(
  report: (seconds: number) => void,
  work: (readSeconds: () => number) => PromiseLike<T>,
): Promise<T> {
  const startedMs = monotonicMs()
  const readSeconds = () => Math.round((monotonicMs() - startedMs) / 1_000)
  const done = new AbortController()
  const repeat = async () => {
    while (!done.signal.aborted) {
      report(readSeconds())
      await sleep(REPORT_INTERVAL_MS, done.signal)
    }
  }
  void repeat()
  try {
    return await work(readSeconds)
  } finally {
    done.abort()
  }
}

/**
 * Migrates a database to the newest schema, each migration in its own transaction (docs/design/storage.md#migrations).
 * Several processes may call this at the same time: one works, the others wait. A database of a newer version is not changed.
 * `stopping` ends the wait for a lock.
 */
export async function migratePostgres(
  databaseUrl: string,
  report: Report = () => {},
  stopping?: AbortSignal,
): Promise<void> {
  const work = async (db: Db) => {
    if (await isMigrated(db)) return
    await db.transaction(async lock => {
      await takeLock(lock, report, stopping)
      // knex's lock survives a kill -9; the advisory lock does not, so knex's lock is stale now
      await db.migrate.forceFreeMigrationsLock()
      const [, missing]: [unknown, MigrationName[]] = await db.migrate.list(configure())
      for (const migration of missing) await applyNext(db, migration, report, stopping)
    })
  }
  await withPostgres(databaseUrl, work, POOL)
}

/** Applies the first missing migration, which has this name. */
async function applyNext(db: Db, migration: MigrationName, report: Report, stopping?: AbortSignal): Promise<void> {
  await reportWhile(
    seconds => report({ event: 'migration_running', migration, seconds }),
    readSeconds =>
      repeatUntilLocked(
        db,
        // not "latest", which runs all migrations in one transaction and would hold all locks until the last one ends
        begin => db.migrate.up(configure(begin)),
        lock => report({ event: 'migration_locked', migration, ...lock, seconds: readSeconds() }),
        stopping,
      ),
  )
}

/** The configuration of knex. `begin` is called at the start of the transaction of a migration. */
const configure = (begin: (tx: Tx) => Promise<void> = async () => {}) => ({
  // during an upgrade, a process of the previous version must be able to start
  disableMigrationsListValidation: true,
  migrationSource: {
    getMigrations: async () => Object.keys(MIGRATIONS) as MigrationName[],
    getMigrationName: (name: MigrationName) => name,
    getMigration: async (name: MigrationName) => ({
      up: async (tx: Db) => {
        // knex gives each migration its transaction
        await begin(tx as Tx)
        await MIGRATIONS[name].up(tx)
      },
      down: async () => {},
    }),
  },
})

/** The transaction only holds the lock: it may wait for it, and be idle while the migrations run, without a limit. */
async function takeLock(lock: Tx, report: Report, stopping?: AbortSignal): Promise<void> {
  await lock.raw('SET LOCAL idle_in_transaction_session_timeout = 0')
  if (await tryLock(lock)) return
  await reportWhile(
    seconds => report({ event: 'migration_waiting', seconds }),
    async () => {
      do {
        await sleep(LOCK_POLL_MS, stopping)
        if (stopping?.aborted) throw new Error('stopped while another process migrated the database')
      } while (!(await tryLock(lock)))
    },
  )
}

const LOCK_POLL_MS = 500

async function tryLock(lock: Tx): Promise<boolean> {
  const sql = `SELECT pg_try_advisory_xact_lock(${LOCK_KEYS.migrations}) AS "isMine"`
  return (await query<{ isMine: boolean }>(lock, sql))[0]!.isMine
}

/**
 * The migrations that a database lacks, in order; null for a database without any. While a process migrates it, this waits for
 * the end. Changes nothing.
 */
export async function findMissingMigrations(databaseUrl: string, report: Report): Promise<string[] | null> {
  return withPostgres(databaseUrl, async db => {
    const applied = await listApplied(db)
    if (applied.size === 0) return null
    if (listMissing(applied).length === 0) return []
    await db.transaction(lock => takeLock(lock, report))
    return listMissing(await listApplied(db))
  })
}

const listMissing = (applied: ReadonlySet<string>) => Object.keys(MIGRATIONS).filter(name => !applied.has(name))

async function listApplied(db: Db): Promise<Set<string>> {
  const [table] = await query<{ exists: boolean }>(db, `SELECT to_regclass('knex_migrations') IS NOT NULL AS exists`)
  const rows = table!.exists ? await query<{ name: string }>(db, 'SELECT name FROM knex_migrations') : []
  return new Set(rows.map(({ name }) => name))
}

/** Whether all migrations are applied and none is running, as at most starts: two statements instead of the twenty of knex. */
async function isMigrated(db: Db): Promise<boolean> {
  // knex creates them one after the other
  const [tables] = await query<{ exist: boolean }>(
    db,
    `SELECT to_regclass('knex_migrations') IS NOT NULL AND to_regclass('knex_migrations_lock') IS NOT NULL AS exist`,
  )
  if (!tables!.exist) return false
  const isRunning = 'SELECT FROM knex_migrations_lock WHERE is_locked <> 0'
  const applied = await query<{ name: string }>(db, `SELECT name FROM knex_migrations WHERE NOT EXISTS (${isRunning})`)
  return listMissing(new Set(applied.map(({ name }) => name))).length === 0
}
