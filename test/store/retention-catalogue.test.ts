import { readFileSync } from 'node:fs'
import t from 'tap'
import { migrateClickhouse } from '../../control-plane/foundation/migrations/clickhouse/index.ts'
import { createClickhouse, select } from '../../control-plane/foundation/platform/clickhouse.ts'
import { connectNats, ensureStreams } from '../../control-plane/foundation/platform/nats/client.ts'
import { createNatsObjectStore } from '../../control-plane/foundation/platform/object-storage/nats-bucket.ts'
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { RETENTION_RULES } from '../../control-plane/operations/retention/rules.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { createDatabase } from '../support/database.ts'
import { startNats } from '../support/nats.ts'

const DOCUMENT = readFileSync(new URL('../../docs/design/retention.md', import.meta.url), 'utf8')
const ROW = /^\| `(\w+)` \| (\w+) \| (.+) \|$/gm

/** The rows of a chapter: name, bound and limit. */
function chapter(title: string) {
  const text = DOCUMENT.split(/^## /m).find(part => part.startsWith(`${title}\n`)) ?? ''
  return [...text.matchAll(ROW)].map(([, name, bound, limit]) => ({ name: name!, bound: bound!, limit: limit! }))
}

const namesIn = (title: string) => chapter(title).map(({ name }) => name)

t.test('The page lists every table of PostgreSQL with its bound, and no other', async t => {
  const { url } = await createDatabase(t)
  const db = createPostgres(url)
  t.teardown(() => db.destroy())
  const tables = await query<{ name: string }>(
    db,
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY table_name COLLATE "C"`,
  )
  t.ok(tables.length > 50)
  t.same(
    namesIn('PostgreSQL'),
    tables.map(({ name }) => name),
  )
})

t.test('The page lists every stream and bucket of NATS with its bound, and no other', async t => {
  const server = await startNats(t)
  const nats = await connectNats(server.url, 'test')
  t.teardown(() => nats.close())
  await ensureStreams(nats.manager)
  await createNatsObjectStore(nats, 'SCREENSHOTS').put('one', Buffer.from('x'), 'image/png')
  const streams = await nats.manager.streams.names().next()
  t.same(namesIn('NATS').sort(), streams.sort())
})

t.test('The page lists every table of ClickHouse with its bound, and no other', async t => {
  const { url, database } = await createClickhouseDatabase(t)
  await migrateClickhouse(url)
  const clickhouse = createClickhouse(url)
  t.teardown(() => clickhouse.close())
  const sql = `SELECT name FROM system.tables WHERE database = {database:String} AND name NOT LIKE '.inner%'`
  const tables = await select<{ name: string }>(clickhouse, sql, { database })
  t.same(namesIn('ClickHouse').sort(), tables.map(({ name }) => name).sort())
})

t.test('Each row has a kind of bound, and each table with a rule is bounded by its setting', async t => {
  const rows = ['PostgreSQL', 'NATS', 'ClickHouse'].flatMap(chapter)
  t.same(
    rows.filter(({ bound }) => !['age', 'plan', 'resources', 'fixed'].includes(bound)),
    [],
  )
  for (const { table, setting } of RETENTION_RULES) {
    const row = chapter('PostgreSQL').find(({ name }) => name === table)
    if (table === 'transitions' && setting === 'deleted') continue
    t.match(row?.limit, `RETENTION_${setting.toUpperCase()}_DAYS`, table)
  }
})

t.test('The page and the configuration list each setting with its default', async t => {
  const configuration = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8')
  const settings = chapter('How rows are deleted')
  for (const { setting } of RETENTION_RULES) t.ok(DOCUMENT.includes(`| \`RETENTION_${setting.toUpperCase()}_DAYS\` |`))
  t.equal(settings.length, new Set(RETENTION_RULES.map(({ setting }) => setting)).size)
  for (const { name, bound } of settings) t.match(configuration, new RegExp(`\`${name}\`[^|]*\\|[^|]*\\b${bound}\\b`))
})
