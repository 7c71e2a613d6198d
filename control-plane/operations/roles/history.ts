import type { Log } from '../../../shared/process/log.ts'
import type { Metrics } from '../../../shared/process/metrics.ts'
import type { Config, ProcessRole } from '../../config.ts'
import { migrateClickhouse } from '../../foundation/migrations/clickhouse/index.ts'
import {
  type Clickhouse,
  createClickhouse,
  isClickhouseAway,
  pingClickhouse,
} from '../../foundation/platform/clickhouse.ts'
import { withTimeout } from '../../foundation/platform/time/clock.ts'
import { type Loop, startLoop } from '../../foundation/platform/time/loop.ts'

/** One for each loop of the role `record` that uses ClickHouse, so that none of them waits for a connection. */
const RECORD_CONNECTIONS = 4
/** A server that does not answer in this time is migrated in the background. */
const START_PING_MS = 5_000
const MIGRATION_INTERVAL_MS = 60_000
const MIGRATION_RETRY_MS = 2_000
const STOP_TIMEOUT_MS = 2_000

/** ClickHouse, as the roles of a process use it. */
export type History = {
  /** `record` has connections of its own, so that requests cannot take them (docs/design/storage.md#clickhouse). */
  forRole(role: ProcessRole): Clickhouse
  /** Migrates the schema in the background; for a database that was lost while this process runs. */
  requestMigration(): void
  stop(): Promise<void>
}

/**
 * Connects to ClickHouse and migrates its schema. Verdicts and alerts do not need it, so a process also starts while it is
 * unreachable, does not answer or answers with an error, and migrates it in the background.
 */
export async function openHistory(
  { clickhouseUrl }: Config,
  readTimeoutMs: number,
  tools: { log: Log; metrics: Metrics },
): Promise<History> {
  const shared = createClickhouse(clickhouseUrl, { readTimeoutMs })
  const recording = createClickhouse(clickhouseUrl, { maxConnections: RECORD_CONNECTIONS })
  const isMigrated = await migrateAtStart(clickhouseUrl, shared, tools.log)
  const migration = startMigration(clickhouseUrl, isMigrated, tools)
  return {
    forRole: role => (role === 'record' ? recording : shared),
    requestMigration: migration.request,
    async stop() {
      // a statement that hangs must not keep the process from releasing the rest
      await withTimeout(migration.loop.stop(), STOP_TIMEOUT_MS)
      await Promise.all([shared.close(), recording.close()])
    },
  }
}

/** False when ClickHouse cannot be migrated now. A server that answers may take its time for the migration. */
async function migrateAtStart(url: string, clickhouse: Clickhouse, log: Log): Promise<boolean> {
  try {
    // the database may be missing
    await pingClickhouse(clickhouse, START_PING_MS).catch(error => {
      if (isClickhouseAway(error)) throw error
    })
    await migrateClickhouse(url)
    return true
  } catch (err) {
    if (isClickhouseAway(err)) log.warn({ err }, 'ClickHouse is unreachable: there is no history until it is back')
    else log.error({ event: 'clickhouse_refuses', err }, 'ClickHouse answers with an error: there is no history')
    return false
  }
}

function startMigration(
  url: string,
  isMigrated: boolean,
  tools: { log: Log; metrics: Metrics },
): { loop: Loop; request(): void } {
  let isDue = !isMigrated
  const round = async () => {
    if (!isDue) return
    await migrateClickhouse(url)
    isDue = false
  }
  const loop = startLoop('migrate-history', MIGRATION_INTERVAL_MS, tools, round, { retryMs: MIGRATION_RETRY_MS })
  return {
    loop,
    request() {
      isDue = true
      loop.wake()
    },
  }
}
