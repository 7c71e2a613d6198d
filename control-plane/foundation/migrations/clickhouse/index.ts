import { type Clickhouse, createClickhouse } from '../../platform/clickhouse.ts'
import * as results from './0001-results.ts'
import * as details from './0002-details.ts'
import * as progress from './0003-progress.ts'
import * as dailyResults from './0004-daily-results.ts'
import * as arrivals from './0005-arrivals.ts'

/** In order. A migration that was released is never edited; the next one corrects it. Names are stored in the database. */
const MIGRATIONS: Record<string, { statements: string[]; finish?: (clickhouse: Clickhouse) => Promise<void> }> = {
  '0001-results': results,
  '0002-details': details,
  '0003-progress': progress,
  '0004-daily-results': dailyResults,
  '0005-arrivals': arrivals,
}

/**
 * Migrates a ClickHouse database to the newest schema, and creates the database when it is missing. ClickHouse has no
 * transactions for DDL, so every statement can be repeated: an interrupted migration and two concurrent ones do no harm.
 */
export async function migrateClickhouse(url: string): Promise<void> {
  const { pathname } = new URL(url)
  const database = decodeURIComponent(pathname.slice(1)) || 'default'
  const server = createClickhouse(new URL('/', url).href)
  try {
    await server.command({ query: `CREATE DATABASE IF NOT EXISTS "${database.replaceAll('"', '')}"` })
  } finally {
    await server.close()
  }
  await applyAll(url)
}

async function applyAll(url: string): Promise<void> {
  const client = createClickhouse(url)
  try {
    await client.command({
      query: 'CREATE TABLE IF NOT EXISTS migrations (name String) ENGINE = ReplacingMergeTree ORDER BY name',
    })
    const answer = await client.query({ query: 'SELECT DISTINCT name FROM migrations', format: 'JSONEachRow' })
    const applied = new Set((await answer.json<{ name: string }>()).map(row => row.name))
    for (const [name, { statements, finish }] of Object.entries(MIGRATIONS)) {
      if (applied.has(name)) continue
      for (const statement of statements) await client.command({ query: makeRepeatable(statement) })
      await finish?.(client)
      await client.insert({ table: 'migrations', values: [{ name }], format: 'JSONEachRow' })
    }
  } finally {
    await client.close()
  }
}

const makeRepeatable = (statement: string) => statement.replace(/^CREATE TABLE /, 'CREATE TABLE IF NOT EXISTS ')
