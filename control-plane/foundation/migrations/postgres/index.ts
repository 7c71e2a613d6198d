import { type Db, query, type Tx, withPostgres } from '../../platform/postgres/client.ts'
import { LOCK_KEYS } from '../../platform/postgres/lock-keys.ts'
import { monotonicMs, sleep } from '../../platform/time/clock.ts'
import * as accounts from './0001-accounts.ts'
import * as monitors from './0002-monitors.ts'
import * as fleet from './0003-fleet.ts'
import * as alerts from './0004-alerts.ts'
import * as heartbeats from './0005-heartbeats.ts'
import * as expiry from './0006-expiry.ts'
import * as screenshots from './0007-screenshots.ts'
import * as incidents from './0008-incidents.ts'
import * as relay from './0009-relay.ts'
import * as silences from './0010-silences.ts'
import * as reminders from './0011-reminders.ts'
import * as probeCredentials from './0013-probe-credentials.ts'
import * as operator from './0014-operator.ts'
import * as canaries from './0015-canaries.ts'
import * as statusPages from './0016-status-pages.ts'
import * as pageSubscribers from './0017-page-subscribers.ts'
import * as audit from './0018-audit.ts'
import * as sessions from './0019-sessions.ts'
import * as dataSources from './0020-data-sources.ts'
import * as vendors from './0021-vendors.ts'
import * as chat from './0022-chat.ts'
import * as rehearsals from './0023-rehearsals.ts'
import * as idempotencyMarks from './0024-idempotency-marks.ts'
import * as partitionRecovery from './0026-partition-recovery.ts'
import * as tenantsApart from './0027-tenants-apart.ts'
import * as fanOuts from './0030-fan-outs.ts'
import * as pingIds from './0031-ping-ids.ts'
import * as streaksSince from './0032-streaks-since.ts'
import * as retention from './0033-retention.ts'
import * as liveProbes from './0034-live-probes.ts'
import * as imageFetches from './0036-image-fetches.ts'
import * as sourceKeys from './0036-source-keys.ts'
import * as canaryKinds from './0037-canary-kinds.ts'
import * as absentRegions from './0038-absent-regions.ts'
import * as witness from './0039-witness.ts'
import * as canaryGuarantees from './0040-canary-guarantees.ts'
import * as incidentCounts from './0040-incident-counts.ts'
import * as foreignReports from './0041-foreign-reports.ts'
import * as mailAddresses from './0042-mail-addresses.ts'
import * as eventPaces from './0043-event-paces.ts'
import * as sealedAddresses from './0044-sealed-addresses.ts'
import * as suspendedAccess from './0045-suspended-access.ts'
import * as projectChanges from './0046-project-changes.ts'
import * as searchIndexes from './0047-search-indexes.ts'
import * as monitorOrders from './0048-monitor-orders.ts'
import * as alertSilences from './0049-alert-silences.ts'
import * as views from './0050-views.ts'
import * as verdictInputs from './0052-verdict-inputs.ts'
import * as firstMonitorPolicies from './0053-first-monitor-policies.ts'
import * as maintenanceNotices from './0055-maintenance-notices.ts'
import * as incidentTexts from './0057-incident-texts.ts'
import * as wallLinks from './0058-wall-links.ts'
import * as imports from './0059-imports.ts'
import * as chatDisconnections from './0060-chat-disconnections.ts'
import * as parentsNoted from './0061-parents-noted.ts'
import * as auditOfRules from './0062-audit-of-rules.ts'
import * as maintenanceChanges from './0065-maintenance-changes.ts'
import * as pausedDataSources from './0066-paused-data-sources.ts'
import * as outageTitles from './0067-outage-titles.ts'
import * as secretKeyChecks from './0068-secret-key-checks.ts'
import * as screenshotSettings from './0069-screenshot-settings.ts'
import * as subscriberChoices from './0070-subscriber-choices.ts'
import * as dataSourceStates from './0071-data-source-states.ts'
import * as enteredOrganizations from './0072-entered-organizations.ts'
import * as outdatedStatuses from './0073-outdated-statuses.ts'
import * as expiryOrder from './0074-expiry-order.ts'
import { type LockedTable, repeatUntilLocked } from './lock-waits.ts'

/** In order. A migration that was released is never edited; the next one corrects it. Names are stored in the database. */
const MIGRATIONS = {
  '0001-accounts': accounts,
  '0002-monitors': monitors,
  '0003-fleet': fleet,
  '0004-alerts': alerts,
  '0005-heartbeats': heartbeats,
  '0006-expiry': expiry,
  '0007-screenshots': screenshots,
  '0008-incidents': incidents,
  '0009-relay': relay,
  '0010-silences': silences,
  '0011-reminders': reminders,
  '0013-probe-credentials': probeCredentials,
  '0014-operator': operator,
  '0015-canaries': canaries,
  '0016-status-pages': statusPages,
  '0017-page-subscribers': pageSubscribers,
  '0018-audit': audit,
  '0019-sessions': sessions,
  '0020-data-sources': dataSources,
  '0021-vendors': vendors,
  '0022-chat': chat,
  '0023-rehearsals': rehearsals,
  '0024-idempotency-marks': idempotencyMarks,
  '0026-partition-recovery': partitionRecovery,
  '0027-tenants-apart': tenantsApart,
  '0030-fan-outs': fanOuts,
  '0031-ping-ids': pingIds,
  '0032-streaks-since': streaksSince,
  '0033-retention': retention,
  '0034-live-probes': liveProbes,
  '0036-image-fetches': imageFetches,
  '0036-source-keys': sourceKeys,
  '0037-canary-kinds': canaryKinds,
  '0038-absent-regions': absentRegions,
  '0039-witness': witness,
  '0040-canary-guarantees': canaryGuarantees,
  '0040-incident-counts': incidentCounts,
  '0041-foreign-reports': foreignReports,
  '0042-mail-addresses': mailAddresses,
  '0043-event-paces': eventPaces,
  '0044-sealed-addresses': sealedAddresses,
  '0045-suspended-access': suspendedAccess,
  '0046-project-changes': projectChanges,
  '0047-search-indexes': searchIndexes,
  '0048-monitor-orders': monitorOrders,
  '0049-alert-silences': alertSilences,
  '0050-views': views,
  '0052-verdict-inputs': verdictInputs,
  '0053-first-monitor-policies': firstMonitorPolicies,
  '0055-maintenance-notices': maintenanceNotices,
  '0057-incident-texts': incidentTexts,
  '0058-wall-links': wallLinks,
  '0059-imports': imports,
  '0060-chat-disconnections': chatDisconnections,
  '0061-parents-noted': parentsNoted,
  '0062-audit-of-rules': auditOfRules,
  '0065-maintenance-changes': maintenanceChanges,
  '0066-paused-data-sources': pausedDataSources,
  '0067-outage-titles': outageTitles,
  '0068-secret-key-checks': secretKeyChecks,
  '0069-screenshot-settings': screenshotSettings,
  '0070-subscriber-choices': subscriberChoices,
  '0071-data-source-states': dataSourceStates,
  '0072-entered-organizations': enteredOrganizations,
  '0073-outdated-statuses': outdatedStatuses,
  '0074-expiry-order': expiryOrder,
}

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
