import t from 'tap'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { processDueWatches } from '../../control-plane/verdict/expiry/actions.ts'
import { refreshDomain } from '../../control-plane/verdict/expiry/domains/domain-actions.ts'
import { claimDueDomains, linkWatches } from '../../control-plane/verdict/expiry/domains/domain-store.ts'
import type { Registries } from '../../control-plane/verdict/expiry/domains/registry-reader.ts'
import { startExpiryWorker } from '../../control-plane/verdict/expiry/worker.ts'
import { createEgress } from '../../shared/egress/index.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createDatabase } from '../support/database.ts'
import { DAY_MS, insertExpiryMonitor, readExpiryDates, readExpiryWarnings } from '../support/expiry.ts'
import { startRawServer } from '../support/raw-server.ts'
import { startTarget } from '../support/target.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'
import { runWhileLocked } from '../support/while-held.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
const other = createPostgres(url)
t.teardown(() => Promise.all([db.destroy(), other.destroy()]))
const [{ projectId }, stranger] = [await insertTenant(db), await insertTenant(db)]

const rdap = await startTarget(t)
const questions: string[] = []
const whoisPort = await startRawServer(t, socket =>
  socket.once('data', data => {
    questions.push(String(data))
    socket.end(String(data).includes('old.example.org') ? 'expires: 2027-06-01\r\n' : 'No match\r\n')
  }),
)
const registries: Registries = {
  egress: createEgress({ allow: ['127.0.0.0/8'] }),
  rdapBaseUrl: rdap.url,
  bootstrap: null,
  whoisServer: { host: '127.0.0.1', port: whoisPort },
  // also on a busy machine
  timeoutMs: 120_000,
}
/** Tomorrow at noon: in whole seconds, as in registries, and later than PostgreSQL's clock, by which a new watch is due. */
const start = new Date(Math.ceil(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2)
const day = (days: number) => new Date(start.getTime() + days * DAY_MS)
const look = (at: Date, on = db) => processDueWatches(on, 'https://picket.example', 100, at)
const warning = (days: number) => ({ name: 'monitor.domain_expiry', days, deliveries: 1 })

/** One round of the worker, in one process or another. */
async function refresh(at: Date, on = db): Promise<string[]> {
  const places = { limitPerTld: 10, running: new Map() }
  const due = await claimDueDomains(on, places, { now: at, leaseMs: 300_000, limit: 10 })
  return Promise.all(
    due.map(domain =>
      refreshDomain(
        on,
        domain,
        registries,
        () => 0,
        () => at,
      ),
    ),
  )
}
const register = (name: string, ends: Date) =>
  rdap.behaveAt(`/domain/${name}`, {
    kind: 'answer',
    body: JSON.stringify({
      objectClassName: 'domain',
      events: [{ eventAction: 'expiration', eventDate: ends.toISOString() }],
    }),
  })
const asked = (name: string) => rdap.requests.filter(({ path }) => path === `/domain/${name}`).length

t.test('A domain is looked up once a day for all monitors below it, of all tenants', async t => {
  register('example.com', day(20))
  const mine = await insertExpiryMonitor(db, projectId, { url: 'https://shop.example.com/' })
  const theirs = await insertExpiryMonitor(db, stranger.projectId, { url: 'https://www.example.com/' })
  await look(start)
  t.same(await readExpiryDates(db, mine.id), { ssl: null, domain: null })
  t.same(await refresh(start), ['found'])
  t.same(await refresh(start), [], 'it is not due again')
  for (const { id } of [mine, theirs]) t.same((await readExpiryDates(db, id)).domain, day(20))
  const late = await insertExpiryMonitor(db, projectId, { url: 'https://late.example.com/' })
  await look(start)
  t.same((await readExpiryDates(db, late.id)).domain, day(20), 'a further monitor needs no look-up')
  await refresh(day(0.9))
  t.equal(asked('example.com'), 1)
  await refresh(day(1.1))
  t.equal(asked('example.com'), 2)
  t.match(rdap.requests[0]?.headers, { accept: /rdap\+json/ })
  for (const { id } of [mine, theirs, late]) {
    await look(start)
    t.same(await readExpiryWarnings(db, id), [warning(20)])
  }
  register('example.com', day(385))
  await refresh(day(2.2))
  await look(day(6.1))
  t.same((await readExpiryDates(db, mine.id)).domain, day(385))
  t.same(await readExpiryWarnings(db, mine.id), [warning(20)], 'renewed in time')
  await look(day(355.5))
  t.same(await readExpiryWarnings(db, mine.id), [warning(20), warning(30)])
})

t.test('Two processes look a domain up once', async t => {
  register('both.example.net', day(100))
  register('example.net', day(100))
  for (let i = 0; i < 10; i++) await insertExpiryMonitor(db, projectId, { url: `https://n${i}.example.net/` })
  await Promise.all([look(day(3)), look(day(3), other)])
  await look(day(3))
  await Promise.all([refresh(day(3)), refresh(day(3), other), refresh(day(3))])
  t.equal(asked('example.net'), 1)
})

t.test('WHOIS answers for a registry without RDAP', async t => {
  rdap.behaveAt('/domain/example.org', { kind: 'answer', status: 404 })
  const { id } = await insertExpiryMonitor(db, projectId, { url: 'https://old.example.org/' })
  await look(start)
  t.same(await refresh(start), ['failed'], 'no registry has example.org')
  t.ok(questions.includes('example.org\r\n'))
  t.same((await readExpiryDates(db, id)).domain, null)
})

t.test('Failures are retried with growing delays, keep the known dates and do not change the monitor', async t => {
  register('example.dev', day(50))
  const { id } = await insertExpiryMonitor(db, projectId, { url: 'https://example.dev/' })
  await execute(db, `UPDATE monitors SET status = 'up' WHERE id = ?`, [id])
  await look(start)
  await refresh(start)
  rdap.behaveAt('/domain/example.dev', { kind: 'answer', status: 500 })
  const next = async () => {
    const sql = 'SELECT next_look_at AS at, failures, last_error AS error FROM domains WHERE name = ?'
    const [row] = await query<{ at: Date; failures: number; error: string }>(db, sql, ['example.dev'])
    return row!
  }
  const waits: number[] = []
  for (let i = 0; i < 4; i++) {
    const { at } = await next()
    await refresh(at)
    waits.push(((await next()).at.getTime() - at.getTime()) / 60_000)
  }
  t.same(waits, [15, 30, 60, 120])
  t.match(await next(), { failures: 4, error: /RDAP at 127\.0\.0\.1:\d+: status 500/ })
  t.same((await readExpiryDates(db, id)).domain, day(50))
  const [monitor] = await query(db, 'SELECT status, config_version AS version FROM monitors WHERE id = ?', [id])
  t.same(monitor, { status: 'up', version: 1 })
  register('example.dev', day(50))
  await refresh((await next()).at)
  t.equal((await next()).failures, 0)
})

t.test('A monitor without a registrable domain is not looked up, and one that moves gets the new one', async t => {
  register('example.app', day(70))
  register('example.xyz', day(80))
  const { id } = await insertExpiryMonitor(db, projectId, { url: 'https://192.0.2.1/' })
  await look(day(4))
  t.equal(await look(day(5)), 0, 'nothing is left to do')
  await execute(db, `UPDATE monitors SET url = 'https://example.app/' WHERE id = ?`, [id])
  await look(day(6))
  await refresh(day(6))
  t.same((await readExpiryDates(db, id)).domain, day(70))
  await execute(db, `UPDATE monitors SET url = 'https://example.xyz/', domain_expires_at = NULL WHERE id = ?`, [id])
  await look(day(6))
  await refresh(day(6))
  t.same((await readExpiryDates(db, id)).domain, day(80))
  await refresh(day(8))
  t.equal(asked('example.app'), 1, 'a domain without monitors is forgotten')
  await execute(db, 'UPDATE monitors SET domain_check = false, domain_expires_at = NULL WHERE id = ?', [id])
  await look(day(79))
  t.same(await readExpiryWarnings(db, id), [])
})

t.test('A monitor that is linked to a domain while the domain is deleted as unused finds it again', async t => {
  const name = 'returning.example.com'
  await execute(db, 'INSERT INTO domains (name, next_look_at) VALUES (?, ?)', [name, start])
  const monitor = await insertExpiryMonitor(db, projectId, { url: `https://${name}/` })
  await runWhileLocked(
    db,
    tx => query(tx, 'SELECT name FROM domains WHERE name = ? FOR UPDATE', [name]),
    () => other.transaction(tx => linkWatches(tx, [{ monitorId: monitor.id, domain: name }], start)),
    tx => execute(tx, 'DELETE FROM domains WHERE name = ?', [name]),
  )
  t.match(await query(db, 'SELECT name, next_look_at FROM domains WHERE name = ?', [name]), [{ name }])
})

/** Domains that monitors use, due at these times. */
async function insertDueDomains(due: { name: string; at: Date }[]): Promise<void> {
  const ids = await insertMonitors(db, projectId, due.length)
  const rows = JSON.stringify(due.map((one, i) => ({ ...one, id: ids[i] })))
  const columns = `jsonb_to_recordset(?::jsonb) AS r (id uuid, name text, at timestamptz)`
  await execute(db, `INSERT INTO domains (name, next_look_at) SELECT name, at FROM ${columns}`, [rows])
  const watches = 'INSERT INTO expiry_watches (monitor_id, kind, domain)'
  await execute(db, `${watches} SELECT id, 'domain', name FROM ${columns}`, [rows])
}

t.test(
  'Each top-level domain gets only its free places, those of its domains first that have been due the longest',
  async t => {
    const at = new Date(start.getTime() - 60 * DAY_MS)
    const due = (name: string, minutes: number) => ({ name, at: new Date(at.getTime() - minutes * 60_000) })
    const slow = Array.from({ length: 9 }, (_, i) => due(`n${i}.slow`, 100 - i))
    await insertDueDomains([...slow, due('a.co.fast', 20), due('b.fast', 10), due('c.full', 200)])
    const claim = async (limit: number, running: [string, number][]) => {
      const places = { limitPerTld: 3, running: new Map(running) }
      const claimed = await claimDueDomains(db, places, { now: at, leaseMs: DAY_MS, limit })
      return claimed.map(({ name }) => name).sort()
    }
    t.same(
      await claim(4, [
        ['slow', 1],
        ['full', 3],
      ]),
      ['a.co.fast', 'b.fast', 'n0.slow', 'n1.slow'],
    )
    t.same(await claim(2, [['slow', 0]]), ['c.full', 'n2.slow'])
    t.same(await claim(9, []), ['n3.slow', 'n4.slow', 'n5.slow'])
    t.same(await claim(9, [['slow', 3]]), [])
  },
)

t.test('A registry that does not answer does not delay the domains of others', async t => {
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)
  const silent = Array.from({ length: 40 }, (_, i) => `n${i}.silent`)
  const answering = Array.from({ length: 12 }, (_, i) => `n${i}.answering`)
  for (const name of silent) rdap.behaveAt(`/domain/${name}`, { kind: 'hold' })
  for (const name of answering) register(name, day(90))
  await insertDueDomains([
    ...silent.map(name => ({ name, at: minutesAgo(20) })),
    ...answering.map(name => ({ name, at: minutesAgo(10) })),
  ])
  const metrics = createMetrics()
  const worker = startExpiryWorker({
    ...registries,
    db,
    publicUrl: 'https://picket.example',
    rdapBootstrapUrl: `${rdap.url}dns.json`,
    log: createLog('test', 'silent'),
    metrics,
  })
  const found = async () => {
    const sql = `SELECT count(*) AS n FROM domains WHERE name LIKE '%.answering' AND expires_at IS NOT NULL`
    return (await query<{ n: number }>(db, sql))[0]!.n
  }
  await waitFor(async () => (await found()) === answering.length, { label: 'the domains of the other registry' })
  t.ok(
    silent.some(name => asked(name) === 0),
    'the silent registry has not been asked about all of its domains',
  )
  for (const name of silent) rdap.behaveAt(`/domain/${name}`, { kind: 'answer', status: 404 })
  const stopping = worker.stop()
  rdap.release()
  await stopping
  t.match((await metrics.render()).text, /picket_domain_lookups_total\{outcome="found"\} 12\n/)
})
