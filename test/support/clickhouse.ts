import { randomBytes } from 'node:crypto'
import { createClient } from '@clickhouse/client'
import type { Teardown } from './teardown.ts'

/** An empty ClickHouse database for one test file, dropped at its end. The URL's path names it. */
export async function createClickhouseDatabase(t: Teardown): Promise<{ url: string; database: string }> {
  const server = process.env.TEST_CLICKHOUSE_URL
  if (!server) throw new Error('TEST_CLICKHOUSE_URL is not set: start "npm run engines" and export what it prints.')
  const database = `picket_test_${randomBytes(8).toString('hex')}`
  await command(server, `CREATE DATABASE ${database}`)
  t.teardown(() => command(server, `DROP DATABASE IF EXISTS ${database} SYNC`))
  return { url: new URL(`/${database}`, server).href, database }
}

async function command(url: string, query: string): Promise<void> {
  const client = createClient({ url })
  try {
    await client.command({ query })
  } finally {
    await client.close()
  }
}
