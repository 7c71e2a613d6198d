import { createClient } from '@clickhouse/client'
import { connect } from '@nats-io/transport-node'
import { Client } from 'pg'
import t from 'tap'
import { createClickhouseDatabase } from '../../support/clickhouse.ts'
import { createDatabase } from '../../support/database.ts'
import { startNats } from '../../support/nats.ts'

t.test('A test file gets its own migrated PostgreSQL database', async t => {
  const [one, two] = await Promise.all([createDatabase(t), createDatabase(t)])
  t.not(one.url, two.url)
  const client = new Client({ connectionString: one.url })
  await client.connect()
  const { rows } = await client.query("SELECT to_regclass('monitors') AS monitors")
  await client.end()
  t.equal(rows[0].monitors, 'monitors')
})

t.test('A test file gets its own ClickHouse database', async t => {
  const { url, database } = await createClickhouseDatabase(t)
  const client = createClient({ url })
  t.teardown(() => client.close())
  const answer = await client.query({ query: 'SELECT currentDatabase() AS name', format: 'JSONEachRow' })
  t.same(await answer.json(), [{ name: database }])
})

t.test('NATS comes back on the same port after a kill -9', async t => {
  const nats = await startNats(t)
  await nats.kill9()
  await nats.restart()
  const connection = await connect({ servers: nats.url })
  t.ok(connection.info?.jetstream)
  await connection.close()
})
