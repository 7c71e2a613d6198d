import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@clickhouse/client'
import t from 'tap'
import { createClickhouse, select } from '../../control-plane/foundation/platform/clickhouse.ts'
import { startClickhouse } from '../../tools/engines/clickhouse/clickhouse.ts'
import { createTestFolder } from '../../tools/engines/test-folder.ts'
import { insertLines } from '../support/insert-lines.ts'
import { rawAsk } from '../support/raw-ask.ts'
import { startTarget } from '../support/target.ts'

const folder = createTestFolder()
const dataDir = join(folder, 'clickhouse')
const engine = await startClickhouse({ dataDir, logFile: join(folder, 'clickhouse.log'), port: 0 })
const { port, username, password } = new URL(engine.url)
const client = createClickhouse(engine.url)
await client.command({ query: 'CREATE TABLE t (a String) ENGINE = MergeTree ORDER BY a' })
await client.command({ query: 'CREATE TABLE n (a UInt8) ENGINE = MergeTree ORDER BY a' })
const trap = await startTarget(t)
t.teardown(async () => {
  await client.close()
  await engine.stop()
  rmSync(folder, { recursive: true })
})

const basic = (name: string, secret: string) => ({
  Authorization: `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`,
})
const own = basic(username, password)

/** A request of a program that is not a ClickHouse client. */
const ask = (headers: Record<string, string>, sql: string, path = '/') =>
  rawAsk(engine.url, path, { headers, method: 'POST', body: sql })

t.test('The embedded ClickHouse refuses requests without its password', async t => {
  const refused: [string, Record<string, string>, string?][] = [
    ['no password', {}],
    ['a wrong password', basic(username, 'x'.repeat(password.length))],
    ['a longer password', basic(username, `${password}x`)],
    ['an empty password', basic(username, '')],
    ['the default user', basic('default', '')],
    ['the password as ClickHouse’s own headers', { 'X-ClickHouse-User': username, 'X-ClickHouse-Key': 'x' }],
    ['the password in the query', {}, `/?user=${username}&password=x`],
    ['a ping', {}, '/ping'],
    ['a statement in the address', {}, '/?query=SELECT%201'],
  ]
  for (const [what, headers, path] of refused) {
    const { status, body } = await ask(headers, 'SELECT 42', path)
    t.equal(status, 403, what)
    t.notMatch(body, /42|Ok/)
  }
  t.match(await ask(own, 'SELECT 42'), { status: 200, body: /^42/ })
})

t.test('The embedded ClickHouse refuses web pages and other host names', async t => {
  const refused: Record<string, string>[] = [
    { Origin: 'https://attacker.example' },
    { Origin: 'null' },
    { Origin: `http://127.0.0.1:${port}` },
    { Host: 'attacker.example' },
    { Host: `rebind.attacker.example:${port}` },
    { Host: `localhost:${port}` },
    { Host: `127.0.0.1.attacker.example:${port}` },
  ]
  for (const headers of refused) {
    t.equal((await ask({ ...own, ...headers }, 'SELECT 42')).status, 403, JSON.stringify(headers))
  }
})

t.test('The password is neither in arguments nor in files that other users can read', async t => {
  t.notMatch(readFileSync(`/proc/${engine.pid}/cmdline`, 'utf8'), password)
  t.notMatch(readFileSync(`/proc/${engine.pid}/environ`, 'utf8'), password)
  t.equal(statSync(dataDir).mode & 0o777, 0o700, 'other users may not look into its data')
})

const out = join(folder, 'written')
const web = () => `'http://127.0.0.1:${trap.port}/'`
const HARMFUL = [
  () => `SELECT * FROM file('/etc/passwd', 'LineAsString')`,
  () => `SELECT * FROM File('/etc/passwd', 'LineAsString')`,
  () => `SELECT * FROM \`file\` ('/etc/passwd', 'LineAsString')`,
  () => `SELECT * FROM "fi\\x6ce"('/etc/passwd', 'LineAsString')`,
  () => `SELECT * FROM /* a comment */ file/**/('/etc/passwd', 'LineAsString')`,
  () => `SELECT 1 -- '\n FROM file('/etc/passwd', 'LineAsString')`,
  () => `SELECT $$'$$, * FROM file('/etc/passwd', 'LineAsString')`,
  () => `SELECT * FROM \`/etc/passwd\``,
  () => `SELECT file('/etc/passwd')`,
  () => `SELECT 'it''s \\' x', file('/etc/passwd')`,
  () => `SELECT "fi\\x6ce"('/etc/passwd')`,
  () => `SELECT \`\\x66ile\`('/etc/passwd')`,
  () => `SELECT * FROM "ev\\x61l"('SELECT 1')`,
  () => `SELECT * APPLY(file) FROM (SELECT '/etc/passwd' AS a)`,
  () => `SELECT * APPLY File FROM (SELECT '/etc/passwd' AS a)`,
  () => `SELECT arrayMap("file", ['/etc/passwd'])`,
  () => `DESCRIBE TABLE file('/etc/passwd')`,
  () => `DESCRIBE TABLE url(${web()})`,
  () => `INSERT INTO FUNCTION file('${out}', 'LineAsString', 'line String') VALUES ('x')`,
  () => `INSERT INTO t FROM INFILE '/etc/passwd' FORMAT LineAsString`,
  () => `SELECT 1 INTO OUTFILE '${out}'`,
  () => `SELECT 1 INTO/**/OUTFILE '${out}'`,
  () => `SELECT 1; SELECT 1 INTO OUTFILE '${out}'`,
  () => `INSERT INTO t VALUES ('x')\n\nSELECT 1 INTO OUTFILE '${out}'`,
  () => `INSERT INTO t FORMAT JSONEachRow\n{"a":"x"}\n\nSELECT 1 INTO OUTFILE '${out}'`,
  () => `INSERT INTO n SETTINGS input_format_record_errors_file_path = '${out}' VALUES (1)`,
  () => `SELECT * FROM url(${web()}, 'LineAsString')`,
  () => `SELECT * FROM s3(${web()}, 'LineAsString')`,
  () => `SELECT * FROM remote('127.0.0.1:${trap.port}', 'system.one')`,
  () => `SELECT * FROM postgresql('127.0.0.1:${trap.port}', 'a', 'b', 'c', 'd')`,
  () => `SELECT * FROM mysql('127.0.0.1:${trap.port}', 'a', 'b', 'c', 'd')`,
  () => `SELECT * FROM executable('ls', 'TSV', 'a String')`,
  () => `SELECT * FROM sqlite('${out}', 't')`,
  () => `CREATE TABLE f (a String) ENGINE = File(LineAsString)`,
  () => `CREATE TABLE f (a String) ENGINE = URL(${web()})`,
  () => `CREATE TABLE f (a Int) ENGINE = EmbeddedRocksDB(0, '${out}') PRIMARY KEY a`,
  () => `CREATE TABLE f ENGINE EmbeddedRocksDB(0, '${out}') PRIMARY KEY a AS SELECT 1 AS a`,
  () =>
    `DROP TABLE IF EXISTS f PARALLEL WITH CREATE TABLE g (a Int) ENGINE = EmbeddedRocksDB(0, '${out}') PRIMARY KEY a`,
  () => `CREATE DATABASE d ENGINE = Memory`,
  () => `SELECT 1 SETTINGS allow_introspection_functions`,
  () => `SELECT 1 SETTINGS max_threads = 1, allow_introspection_functions`,
  () => `CREATE TABLE f (a Int) ENGINE = MergeTree ORDER BY a SETTINGS disk = disk(type = web, endpoint = ${web()})`,
  () => `CREATE TABLE f (a Int) ENGINE = MergeTree ORDER BY a SETTINGS \`disk\` = 'x'`,
  () =>
    `CREATE DICTIONARY d (a UInt64) PRIMARY KEY a SOURCE(HTTP(url ${web()} format 'TSV')) LAYOUT(FLAT()) LIFETIME(0)`,
  () => `CREATE FUNCTION f AS x -> x`,
  () => `CREATE VIEW v AS SELECT 1`,
  () => `CREATE USER u`,
  () => `ALTER TABLE t MODIFY SETTING storage_policy = 'x'`,
  () => `ALTER TABLE t FREEZE`,
  () => `BACKUP TABLE t TO File('${out}')`,
  () => `SET readonly = 0`,
  () => `SYSTEM SHUTDOWN`,
  () => `GRANT ALL ON *.* TO default`,
]

t.test('SQL that accesses files or the network is refused in every spelling', async t => {
  for (const harmful of HARMFUL) {
    const sql = harmful()
    const { status, body } = await ask(own, sql)
    t.equal(status, 500, sql)
    t.notMatch(body, /root:/)
  }
  t.equal(trap.requests.length, 0, 'nothing was asked for over the network')
  t.notOk(readdirSync(folder).includes('written'), 'no file was written')
  t.match(await ask(own, 'SELECT count() FROM t'), { status: 200, body: '0\n' })
})

t.test('Rows and settings of a request cannot contain a statement', async t => {
  const insert = encodeURIComponent('INSERT INTO t FORMAT JSONEachRow')
  const harmful = `SELECT 1 INTO OUTFILE '${out}'`
  const rows = [`{"a":"x"}\n\n${harmful}`, `\n${harmful}`, `{"a":"x"}\r\n\r\n${harmful}`, `{"a":"x"};${harmful}`]
  for (const body of rows) {
    t.equal((await ask(own, body, `/?query=${insert}`)).status, 500, body)
    t.equal((await ask(own, body, `/?query=${encodeURIComponent('INSERT INTO t FORMAT TSV')}`)).status, 500, body)
    t.equal((await ask(own, body, `/?query=${encodeURIComponent('INSERT INTO t')}`)).status, 500, body)
  }
  const file = encodeURIComponent(out)
  for (const path of [
    `/?input_format_record_errors_file_path=${file}`,
    `/?format_schema=${file}`,
    `/?default_format=TSV%20INTO%20OUTFILE%20'${file}'`,
    `/?database=${encodeURIComponent(`system\`; SELECT 1 INTO OUTFILE '${out}' -- `)}`,
    `/?database=${encodeURIComponent(`x\` INTO OUTFILE '${out}`)}`,
    '//',
  ]) {
    t.not((await ask(own, 'SELECT 1', path)).status, 200, path)
  }
  const text = `x'; SELECT 1 INTO OUTFILE '${out}' -- `
  const asText = await ask(own, 'SELECT {text:String}', `/?param_text=${encodeURIComponent(text)}`)
  t.match(asText, { status: 200, body: /^x\\'; SELECT 1 INTO OUTFILE/ })
  t.notOk(readdirSync(folder).includes('written'), 'no file was written')
  const { status, body } = await ask(own, `SELECT arrayMap({f:Identifier}, ['/etc/passwd'])`, '/?param_f=file')
  t.equal(status, 500, 'a parameter that is a name')
  t.notMatch(body, /root:/)
})

t.test('Data that looks like SQL is stored and read unchanged', async t => {
  const texts = [
    `x'); SELECT * FROM file('/etc/passwd') INTO OUTFILE 'y' --`,
    'a "quoted" \\ text;\n\nSELECT 1',
    '/* INFILE */ $$ # é “” \t `',
  ]
  await insertLines(
    client,
    't (a)',
    texts.map(text => `${JSON.stringify([text])}\n`),
  )
  await client.insert({ table: 't', values: texts.map(a => ({ a })), format: 'JSONEachRow' })
  const sql = `SELECT a, count() AS n FROM t WHERE a IN {texts:Array(String)} AND a != 'file(\\'x\\') -- ;' GROUP BY a`
  const found = await select<{ a: string; n: string }>(client, sql, { texts })
  t.same(found.map(({ a }) => a).sort(), texts.toSorted())
  t.same(
    found.map(({ n }) => Number(n)),
    [2, 2, 2],
  )
})

t.test('An engine that is restarted with its URL works for its clients', async t => {
  await engine.stop()
  const again = await startClickhouse({ dataDir, logFile: join(folder, 'again.log'), port: Number(port), password })
  t.teardown(() => again.stop())
  t.equal(again.url, engine.url)
  const later = createClient({ url: engine.url })
  t.teardown(() => later.close())
  t.ok((await later.ping({ select: true })).success)
})
