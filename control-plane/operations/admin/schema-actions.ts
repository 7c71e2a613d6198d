import { ConfigError } from '../../../shared/process/env.ts'
import {
  findMissingMigrations,
  MIGRATION_MESSAGES,
  type MigrationProgress,
  migratePostgres,
} from '../../foundation/migrations/postgres/index.ts'

/** Brings the schema of PostgreSQL up to date. `print` gets a line for each wait. */
export const migrateSchema = (databaseUrl: string, print: (line: string) => void): Promise<void> =>
  nameServer(
    databaseUrl,
    migratePostgres(databaseUrl, progress => printWait(progress, print)),
  )

/**
 * Throws a ConfigError unless the schema is the one of this version or of a newer one. Only an empty database is migrated:
 * an upgrade begins with a backup, which a command must not forestall.
 */
export async function assertSchema(databaseUrl: string, print: (line: string) => void): Promise<void> {
  const finding = findMissingMigrations(databaseUrl, progress => printWait(progress, print))
  const missing = await nameServer(databaseUrl, finding)
  if (missing === null) return migrateSchema(databaseUrl, print)
  if (missing.length === 0) return
  const [first] = missing
  const which = missing.length === 1 ? `${first} is` : `${first} to ${missing.at(-1)} (${missing.length}) are`
  throw new ConfigError(
    `PostgreSQL at ${new URL(databaseUrl).host} (DATABASE_URL) has the schema of an earlier version: ${which} missing; back up the database, then start a control plane of this version or run the command "migrate"`,
  )
}

function printWait(progress: MigrationProgress, print: (line: string) => void): void {
  // most migrations take no time
  if (progress.event === 'migration_running' && progress.seconds === 0) return
  const details = progress.event === 'migration_waiting' ? [] : [progress.migration]
  if (progress.event === 'migration_locked') details.push(progress.table ?? '', ...progress.heldBy)
  print([MIGRATION_MESSAGES[progress.event], details.filter(Boolean).join(', ')].filter(Boolean).join(': '))
}

/** Awaits work on PostgreSQL, and names the server in its error, without the secrets of the URL. */
function nameServer<T>(databaseUrl: string, work: Promise<T>): Promise<T> {
  return work.catch(({ message, code }) => {
    throw new ConfigError(
      `PostgreSQL at ${new URL(databaseUrl).host} (DATABASE_URL) cannot be used: ${message || code}`,
    )
  })
}
