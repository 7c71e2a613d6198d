import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { Client } from 'pg'
import { migratePostgres } from '../../control-plane/foundation/migrations/postgres/index.ts'
import type { Teardown } from './teardown.ts'

const MIGRATIONS = new URL('../../control-plane/foundation/migrations/postgres/', import.meta.url)

/**
 * A database with the newest schema for one test file, dropped at its end. The migrations run once, in a template
 * that all files clone. Its name contains a hash of the migrations, so a changed migration creates a new one.
 */
export async function createDatabase(t: Teardown): Promise<{ url: string }> {
  const template = `picket_template_${migrationsHash()}`
  const name = `picket_test_${randomBytes(8).toString('hex')}`
  await withServer(async server => {
    // held to the end, because a template can be created or cloned by one session at a time
    await server.query('SELECT pg_advisory_lock(7026001)')
    const { rowCount } = await server.query('SELECT 1 FROM pg_database WHERE datname = $1', [template])
    if (rowCount === 0) await createTemplate(server, template)
    await server.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
  })
  t.teardown(() => withServer(server => server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)))
  return { url: databaseUrl(name) }
}

async function createTemplate(server: Client, template: string): Promise<void> {
  const unfinished = `${template}_unfinished`
  await server.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`)
  await server.query(`CREATE DATABASE ${unfinished}`)
  await migratePostgres(databaseUrl(unfinished))
  await server.query(`ALTER DATABASE ${unfinished} RENAME TO ${template}`)
}

async function withServer(work: (server: Client) => Promise<unknown>): Promise<void> {
  const server = new Client({ connectionString: databaseUrl('postgres') })
  await server.connect()
  try {
    await work(server)
  } finally {
    await server.end()
  }
}

function databaseUrl(name: string): string {
  const given = process.env.TEST_DATABASE_URL
  if (!given) throw new Error('TEST_DATABASE_URL is not set: start "npm run engines" and export what it prints.')
  const url = new URL(given)
  url.pathname = `/${name}`
  return url.href
}

function migrationsHash(): string {
  const hash = createHash('sha256')
  for (const file of readdirSync(MIGRATIONS).sort()) hash.update(file).update(readFileSync(new URL(file, MIGRATIONS)))
  return hash.digest('hex').slice(0, 16)
}
