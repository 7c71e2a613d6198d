import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { startClickhouse } from './clickhouse/clickhouse.ts'
import { startPostgres } from './postgres.ts'
import { createTestFolder } from './test-folder.ts'

export type TestEngines = { databaseUrl: string; clickhouseUrl: string; stop(): Promise<void> }

/** PostgreSQL and ClickHouse for tests, in a temporary directory. Every test uses its own database. */
export async function startTestEngines(): Promise<TestEngines> {
  const dir = createTestFolder()
  const file = (name: string) => join(dir, name)
  const [postgres, clickhouse] = await Promise.all([
    startPostgres({ dataDir: file('postgres'), logFile: file('postgres.log'), port: 0, unsafeFast: true }),
    startClickhouse({ dataDir: file('clickhouse'), logFile: file('clickhouse.log'), port: 0 }),
  ])
  const stop = async () => {
    await Promise.all([postgres.stop(), clickhouse.stop()])
    rmSync(dir, { recursive: true, force: true })
  }
  return { databaseUrl: postgres.url, clickhouseUrl: clickhouse.url, stop }
}
