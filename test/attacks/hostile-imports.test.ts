import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { createOwnFaultFinder } from '../../control-plane/foundation/web/validation/schema-compiler.ts'
import { createFileReader } from '../../control-plane/integrations/import-export/jobs/reading/file-reader.ts'
import { readImportFile } from '../../control-plane/integrations/import-export/jobs/reading/read-file.ts'
import {
  createDiskBudget,
  MAX_UPLOAD_BYTES,
  storeUpload,
} from '../../control-plane/integrations/import-export/jobs/upload-store.ts'
import { shareApi } from '../support/api-server.ts'
import { OCTETS, planned } from '../support/import-jobs.ts'
import { buildKumaDatabase, KUMA_TABLES, sqlite } from '../support/kuma-database.ts'
import { HANG_MS } from '../support/wait.ts'

const api = await shareApi()
const tools = { findFaults: createOwnFaultFinder(), sqlite }
const readKuma = (bytes: Buffer | string) => readImportFile(Buffer.from(bytes), 'uptime-kuma', tools)
const kuma = (alsoRun = '') => buildKumaDatabase(2, KUMA_TABLES, alsoRun)

t.test('A text instead of a database, half of one, and an empty, damaged or foreign one are refused', async t => {
  const whole = kuma()
  const scrambled = Buffer.from(whole)
  scrambled.fill(0xa5, 4_096)
  const other = new sqlite.Database()
  other.run('CREATE TABLE songs (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO songs (name) VALUES (1)')
  const rows: [name: string, bytes: Buffer | string, message: RegExp][] = [
    ['text', 'these are notes of the migration', /neither a backup of Uptime Kuma \(JSON\) nor its database/],
    ['nothing', '', /the file is empty/],
    ['half', whole.subarray(0, whole.length / 2), /the database is incomplete: it has \d+ of \d+ bytes/],
    ['header', whole.subarray(0, 50), /incomplete: its header is missing/],
    ['damaged', scrambled, /the database is damaged and cannot be read/],
    ['of another program', Buffer.from(other.export()), /is not one of Uptime Kuma/],
    ['without monitors', buildKumaDatabase(1, { user: KUMA_TABLES.user! }), /the database has no monitors/],
    ['a list', '[]', /is not an Uptime Kuma backup/],
  ]
  for (const [name, bytes, message] of rows) t.throws(() => readKuma(bytes), { status: 400, message }, name)
  t.throws(() => readImportFile(whole, 'picket', tools), { message: /with from=uptime-kuma/ })
})

t.test('Views, generated columns and virtual tables of a database are not evaluated', async t => {
  const endless = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id, x AS name FROM n'
  const rows: [name: string, sql: string, message: RegExp | null][] = [
    ['a view', `ALTER TABLE monitor RENAME TO m; CREATE VIEW monitor AS ${endless}`, /has no monitors/],
    ['a view of tags', `DROP TABLE tag; CREATE VIEW tag AS ${endless}`, null],
    ['a generated column', 'ALTER TABLE tag ADD color2 TEXT AS (hex(zeroblob(900000000)))', null],
    [
      'a generated name',
      'DROP TABLE tag; CREATE TABLE tag (id INTEGER PRIMARY KEY, n TEXT, name TEXT AS (hex(zeroblob(900000000))))',
      null,
    ],
    ['a trigger', 'CREATE TRIGGER boom AFTER INSERT ON monitor BEGIN DELETE FROM monitor; END', null],
    ['an index with an expression', 'CREATE INDEX slow ON monitor (length(name))', null],
  ]
  for (const [name, sql, message] of rows) {
    if (message) t.throws(() => readKuma(kuma(sql)), { status: 400, message }, name)
    else t.equal(readKuma(kuma(sql)).file.monitors?.length, 3, name)
  }
})

t.test('Enormous texts of a database are left out, and too many rows are refused', async t => {
  const long = readKuma(
    kuma(`UPDATE monitor SET description = hex(zeroblob(4000000)), keyword = hex(zeroblob(400000))`),
  )
  t.equal(long.file.monitors?.length, 3)
  t.ok(JSON.stringify(long).length < 20_000)
  const many = `WITH RECURSIVE n(x) AS (SELECT 100 UNION ALL SELECT x + 1 FROM n LIMIT 50001)
    INSERT INTO monitor (id, name, type) SELECT x, 'Shop', 'http' FROM n`
  t.throws(() => readKuma(kuma(many)), { status: 400, message: /monitor must have at most 50000 rows/ })
})

t.test('YAML with aliases of aliases, deep nesting and too many values are refused', async t => {
  const read = (text: string) => readImportFile(Buffer.from(text), 'picket', tools)
  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]']
  for (let i = 1; i < 9; i++)
    bomb.push(
      `a${i}: &a${i} [${Array(9)
        .fill(`*a${i === 1 ? '' : i - 1}`)
        .join(', ')}]`,
    )
  t.throws(() => read(bomb.join('\n')), { code: 'validation_error' })
  t.throws(() => read('['.repeat(100_000)), { status: 400, message: /nested at most 64 levels/ })
  t.throws(() => read(`{"version":1,"monitors":[${'1,'.repeat(3_000_000)}1]}`), { message: /at most 3000000 values/ })
  t.throws(() => read(`# ${' '.repeat(32 * 1024 * 1024)}`), { message: /must not be larger than 32 MiB/ })
})

t.test('A full disk is 503, and no file is left', async t => {
  const full = () => open('/dev/full', 'r+')
  const body = Readable.from([Buffer.alloc(3_000_000)])
  await t.rejects(
    storeUpload(body, null, createDiskBudget(MAX_UPLOAD_BYTES), () => {}, full),
    { status: 503, message: /its disk is full/ },
  )
  const endless = Readable.from(
    (function* () {
      for (;;) yield Buffer.alloc(1 << 22)
    })(),
  )
  const sink = () => open('/dev/null', 'r+')
  await t.rejects(
    storeUpload(endless, null, createDiskBudget(MAX_UPLOAD_BYTES), () => {}, sink),
    { code: 'payload_too_large' },
  )
  t.equal(endless.destroyed, false, 'the connection stays open for the answer')
  endless.destroy()
  const short = Readable.from([Buffer.alloc(10)])
  await t.rejects(
    storeUpload(short, 20, createDiskBudget(MAX_UPLOAD_BYTES), () => {}, sink),
    { status: 400, message: /before the file was complete/ },
  )
})

t.test('A file of the maximum size is written part by part, and its bytes do not stay in memory', async t => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const chunkBytes = 65_536
  const chunks = (function* () {
    for (let i = 0; i < MAX_UPLOAD_BYTES / chunkBytes; i++) yield Buffer.alloc(chunkBytes)
  })()
  const allowedBytes = MAX_UPLOAD_BYTES / 2
  collect()
  const before = process.memoryUsage().arrayBuffers
  const readAdded = () => process.memoryUsage().arrayBuffers - before
  let [maxBytes, writes] = [0, 0]
  const note = () => {
    // chunks that nothing keeps do not count
    if (readAdded() >= allowedBytes) collect()
    maxBytes = Math.max(maxBytes, readAdded())
  }
  const sink = async () => {
    const file = await open('/dev/null', 'r+')
    t.teardown(() => file.close())
    const write = async (bytes: Buffer) => {
      const written = await file.write(bytes)
      writes++
      note()
      return written
    }
    return { fd: file.fd, write, close: () => file.close() } as unknown as typeof file
  }
  const budget = createDiskBudget(MAX_UPLOAD_BYTES)
  const upload = await storeUpload(Readable.from(chunks), MAX_UPLOAD_BYTES, budget, note, sink)
  t.equal(upload.bytes, MAX_UPLOAD_BYTES)
  t.ok(writes > 1, `${writes} parts`)
  t.ok(maxBytes < allowedBytes, `at most ${maxBytes} bytes in memory`)
  await upload.close()
})

t.test('Reading stops at its limit of memory and its limit of time, and the next file is read', async t => {
  const store = async (text: string) => {
    const { fd, close } = await storeUpload(
      Readable.from([Buffer.from(text)]),
      null,
      createDiskBudget(1 << 26),
      () => {},
    )
    t.teardown(close)
    return fd
  }
  const whole = await store(
    '{"version":1,"monitors":[{"name":"Shop","type":"http","url":"https://shop.example.com/"}]}',
  )
  // 2,000,000 values become more than 100 MB
  const large = await store(`{"version":1,"monitors":[${'[],{},'.repeat(1_000_000)}{}]}`)
  const readSmall = createFileReader({ memoryMb: 64, timeoutMs: HANG_MS })
  await t.rejects(readSmall('p', 'picket', large), { status: 503, message: /the file could not be read: .*memory/ })
  t.match((await readSmall('p', 'picket', whole)).join(), /Shop/, 'a new thread reads the next file')
  const readBriefly = createFileReader({ memoryMb: 768, timeoutMs: 1 })
  await t.rejects(readBriefly('p', 'picket', large), { status: 503, message: /it takes more than 0\.001 s/ })
})

t.test(
  'A write that stores only a part is continued, and a body of tiny chunks is written before it is complete',
  async t => {
    const written: Buffer[] = []
    const partial = async (bytes: Buffer) => {
      written.push(Buffer.from(bytes.subarray(0, 700)))
      return { bytesWritten: Math.min(bytes.length, 700) }
    }
    const file = { fd: 0, write: partial, close: async () => {} } as unknown as Awaited<ReturnType<typeof open>>
    const whole = Buffer.from(Array.from({ length: 3_000 }, (_, i) => i % 251))
    const reported: number[] = []
    const body = Readable.from([...whole].map(byte => Buffer.from([byte])))
    const { bytes } = await storeUpload(
      body,
      null,
      createDiskBudget(MAX_UPLOAD_BYTES),
      soFar => void reported.push(soFar),
      async () => file,
    )
    t.equal(bytes, 3_000)
    t.ok(Buffer.concat(written).equals(whole))
    t.strictSame(reported, [1_024, 2_048, 3_000])
  },
)

t.test(
  'Uploads share the space of a process: the one that exceeds it is refused, and space of closed files is free',
  async t => {
    const budget = createDiskBudget(3_000)
    const store = (bytes: number) =>
      storeUpload(
        Readable.from([Buffer.alloc(bytes)]),
        null,
        budget,
        () => {},
        () => open('/dev/null', 'r+'),
      )
    const first = await store(2_000)
    await t.rejects(store(1_001), { status: 503, message: /all of the space for imports/ })
    const second = await store(1_000)
    await t.rejects(store(1), { status: 503, message: /space/ })
    await first.close()
    const third = await store(2_000)
    await Promise.all([second.close(), third.close()])
    await (await store(3_000)).close()
  },
)

t.test('After a trap of SQLite nothing of it is called', async t => {
  const calls: string[] = []
  const trap = new WebAssembly.RuntimeError('unreachable')
  class Database {
    run() {
      throw trap
    }
    close() {
      calls.push('close')
    }
  }
  t.throws(() => readImportFile(kuma(), 'uptime-kuma', { ...tools, sqlite: { Database } as never }), trap)
  t.strictSame(calls, [])
})

t.test('A file name is a text and never a path', async t => {
  const { key } = await api.tenant()
  const name = '../../../etc/passwd'
  const job = await planned(api, key, `file_name=${encodeURIComponent(name)}`, '{"version":1}')
  t.match(job, { status: 'ready', file_name: name })
  t.equal((await api.call('POST', '/imports?file_name=a%0Ab', { key, body: 'x', headers: OCTETS })).status, 400)
})
