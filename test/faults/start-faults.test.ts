import { randomBytes } from 'node:crypto'
import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { createClickhouse, select } from '../../control-plane/foundation/platform/clickhouse.ts'
import { createPostgres, execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { createDatabase } from '../support/database.ts'
import { startNats } from '../support/nats.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { startProgram } from '../support/processes.ts'
import { readReadiness } from '../support/readiness.ts'
import { waitFor } from '../support/wait.ts'

const clickhouse = await createClickhouseDatabase(t)
const ENV = {
  DATABASE_URL: (await createDatabase(t)).url,
  CLICKHOUSE_URL: clickhouse.url,
  NATS_URL: (await startNats(t)).url,
  SECRET_KEY: randomBytes(32).toString('base64'),
  PORT: '0',
  OPERATOR_PORT: '0',
  GRPC_PORT: '0',
}
const controlPlane = (env: Record<string, string> = {}) =>
  startProgram(t, { program: 'dist/control-plane.js', env: { ...ENV, ...env } })

/** ClickHouse behind a proxy that can answer as an overloaded server does. */
async function startOverloaded() {
  let isOverloaded = true
  const { hostname, port, username, password, pathname } = new URL(clickhouse.url)
  const server = createServer((request, response) => {
    if (isOverloaded) {
      request.resume()
      response.writeHead(500, { 'x-clickhouse-exception-code': '241' })
      response.end('Code: 241. DB::Exception: Memory limit (total) exceeded. (MEMORY_LIMIT_EXCEEDED)\n')
      return
    }
    const { method, url: path, headers } = request
    const onward = forward({ hostname, port, method, path, headers }, answer => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  t.teardown(() => server.close())
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`)
  Object.assign(url, { username, password })
  return {
    url: url.href,
    recover: () => {
      isOverloaded = false
    },
  }
}

t.test('A ClickHouse that answers with an error does not end the start, and is migrated when it recovers', async t => {
  const overloaded = await startOverloaded()
  const program = controlPlane({ CLICKHOUSE_URL: overloaded.url })
  const { operator_port: port } = await program.untilEvent('ready')
  t.match(await program.untilEvent('clickhouse_refuses'), { err: { message: /MEMORY_LIMIT_EXCEEDED|Memory limit/ } })
  const readyz = await readReadiness(`http://127.0.0.1:${port}`)
  t.match(readyz.body, { status: 'ready', dependencies: { postgres: 'ok', clickhouse: 'away' } })
  const client = createClickhouse(clickhouse.url)
  t.teardown(() => client.close())
  const database = clickhouse.database
  const sql = 'SELECT name FROM system.tables WHERE database = {database:String}'
  const isMigrated = async () => (await select(client, sql, { database })).length > 0
  t.notOk(await isMigrated())
  overloaded.recover()
  await waitFor(isMigrated, { label: 'the schema of the history' })
  t.equal(await program.stop(), 0)
})

t.test('A migration that takes long is logged by the process that runs it and by those that wait', async t => {
  const db = createPostgres(ENV.DATABASE_URL)
  t.teardown(() => db.destroy())
  await execute(db, 'DROP SCHEMA public CASCADE')
  await execute(db, 'CREATE SCHEMA public')
  // the first migration cannot create a table of that name while this transaction is open
  const inTheWay = await openTransaction(db)
  await execute(inTheWay, 'CREATE TABLE organizations ()')
  const first = controlPlane()
  t.match(await first.untilEvent('migration_running'), { migration: '0001-accounts', seconds: 0 })
  const second = controlPlane()
  t.match(await second.untilEvent('migration_waiting'), { seconds: 0 })
  const repeated = ({ lines }: typeof first, event: string) =>
    lines.some(line => line.event === event && line.seconds >= 30)
  await waitFor(() => repeated(first, 'migration_running') && repeated(second, 'migration_waiting'), {
    label: 'a second report of both',
  })
  await inTheWay.rollback()
  for (const one of [first, second]) {
    await one.untilEvent('ready')
    t.equal(await one.stop(), 0)
  }
})

t.test('A process whose migration waits for a dump names the table, and stops at the first signal', async t => {
  const db = createPostgres(ENV.DATABASE_URL)
  t.teardown(() => db.destroy())
  await execute(db, 'ALTER TABLE memberships DROP COLUMN entered_at')
  await execute(db, 'ALTER TABLE claim_links DROP COLUMN organization_id')
  await execute(db, `DELETE FROM knex_migrations WHERE name = '0072-entered-organizations'`)
  const dump = await openTransaction(db)
  await execute(dump, 'LOCK TABLE memberships IN ACCESS SHARE MODE')
  const program = controlPlane()
  const namesTable = () =>
    program.lines.some(({ event, table }) => event === 'migration_locked' && table === 'memberships')
  await waitFor(namesTable, { label: 'a line that names the table' })
  t.equal(await program.stop(), 1)
  t.ok(program.lines.some(({ text }) => /stopped while a migration waited for a lock/.test(text ?? '')))
  await dump.rollback()
  program.start()
  await program.untilEvent('ready')
  t.equal(await program.stop(), 0)
})
