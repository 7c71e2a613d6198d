import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createClient } from '@clickhouse/client'
import t from 'tap'
import { resolvePostgresIdentity } from '../../../tools/engines/postgres-user.ts'
import { buildIdentityFlags, isAlive, stopStale } from '../../../tools/engines/process.ts'
import { createTestFolder } from '../../../tools/engines/test-folder.ts'
import { createClickhouseDatabase } from '../../support/clickhouse.ts'
import type { Teardown } from '../../support/teardown.ts'

async function connect(t: Teardown) {
  const { url } = await createClickhouseDatabase(t)
  const client = createClient({ url, log: { level: 127 } })
  t.teardown(() => client.close())
  const rows = async (query: string, query_params = {}, clickhouse_settings = {}) =>
    (await client.query({ query, query_params, clickhouse_settings, format: 'JSONEachRow' })).json()
  return { client, rows }
}

t.test('The embedded ClickHouse returns parameters unchanged', async t => {
  const { rows } = await connect(t)
  const nasty = 'a\'b\\c\td\ne"{}`é;--'
  const [row] = await rows(
    'SELECT {s:String} AS s, {n:UInt32} AS n, {l:Array(String)} AS l, {x:Nullable(String)} AS x',
    {
      s: nasty,
      n: 7,
      l: [nasty, 'y'],
      x: null,
    },
  )
  t.same(row, { s: nasty, n: 7, l: [nasty, 'y'], x: null })
})

t.test('Concurrent queries of the embedded ClickHouse do not mix their parameters', async t => {
  const { rows } = await connect(t)
  const numbers = Array.from({ length: 30 }, (_, i) => i)
  const answers = await Promise.all(numbers.map(i => rows('SELECT {i:UInt32} AS i, sleep(0.01) AS s', { i })))
  t.same(
    answers.map(([row]) => (row as { i: number }).i),
    numbers,
  )
})

t.test('A setting of one request of the embedded ClickHouse does not affect the next', async t => {
  const { rows } = await connect(t)
  const ask = "SELECT toString(getSetting('max_block_size')) AS size"
  const [before] = await rows(ask)
  t.same(await rows(ask, {}, { max_block_size: '1234' }), [{ size: '1234' }])
  t.same(await rows(ask), [before])
})

t.test('An insert without a token after one with a token is stored, not dropped as a duplicate', async t => {
  const { client, rows } = await connect(t)
  await client.command({
    query: 'CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 100',
  })
  const insert = (token?: string) =>
    client.insert({
      table: 't',
      values: [{ a: 1 }],
      format: 'JSONEachRow',
      clickhouse_settings: token ? { insert_deduplication_token: token } : {},
    })
  await insert('x')
  await insert('x')
  await insert()
  t.same(await rows('SELECT toUInt32(count()) AS count FROM t'), [{ count: 2 }])
})

t.test('Errors of the embedded ClickHouse have its codes', async t => {
  const { client, rows } = await connect(t)
  await t.rejects(rows('SELECT nope'), { code: '47', type: 'UNKNOWN_IDENTIFIER' })
  await t.rejects(rows('SELECT * FROM nope'), { code: '60', type: 'UNKNOWN_TABLE' })
  await client.command({ query: 'CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a' })
  await t.rejects(client.insert({ table: 't', values: [{ a: 'x' }], format: 'JSONEachRow' }), { code: '27' })
})

t.test('The next run removes the files of a killed run', async t => {
  const own = createTestFolder()
  t.teardown(() => rmSync(own, { recursive: true }))
  const ended = spawn(process.execPath, ['-e', ''])
  await once(ended, 'exit')
  const left = join(dirname(own), `picket-test-${ended.pid}-left`)
  mkdirSync(join(left, 'postgres'), { recursive: true })
  const next = createTestFolder()
  t.teardown(() => rmSync(next, { recursive: true }))
  t.notOk(existsSync(left))
  t.ok(existsSync(own), 'of a run that goes on everything stays')
})

t.test('PostgreSQL finds its own program in a checkout that only its owner may look into', async t => {
  const folder = t.testdir({})
  const program = join(folder, 'program')
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
  chmodSync(folder, 0o700)
  const as = resolvePostgresIdentity([program])
  // initdb checks access as `test` does
  const [command, ...args] = [...(as ? ['setpriv', ...buildIdentityFlags(as), '--'] : []), 'test', '-x', program]
  t.equal(spawnSync(command!, args).status, 0)
})

t.test('A stale process is stopped, a process of another data directory with its id is not', async t => {
  const folder = createTestFolder()
  t.teardown(() => rmSync(folder, { recursive: true }))
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e9)', 'nats-server', '/data/one/nats.conf'])
  t.teardown(() => child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  await once(child, 'spawn')
  const pidFile = join(folder, 'nats.pid')
  writeFileSync(pidFile, String(child.pid))
  await stopStale(pidFile, ['nats-server', '/data/two/'], 'SIGTERM')
  t.equal(child.signalCode, null)
  t.ok(isAlive(child.pid!), 'it still runs')
  await stopStale(pidFile, ['nats-server', '/data/one/'], 'SIGTERM')
  t.same(await exited, [null, 'SIGTERM'])
})
