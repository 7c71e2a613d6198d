import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { listMonitors } from '../../control-plane/monitoring/monitors/listing/list-store.ts'
import {
  ALL_MONITORS,
  MONITOR_SORTS,
  type MonitorSort,
} from '../../control-plane/monitoring/monitors/listing/monitor-filter.ts'
import { findAnswerDifferences } from '../support/answers.ts'
import { startApi } from '../support/api-server.ts'
import { readOperations } from '../support/operations.ts'
import { insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const api = await startApi(t)
const { db } = api
const { operations } = await readOperations(api)
const operation = operations.find(({ name }) => name === 'GET /monitors')!

/** `set`: SQL of fields that only the verdict and pauses change. */
type Row = { name: string; fields?: Record<string, unknown>; set?: string }

/** A tenant with these monitors, created in this order, and a function that lists their names. */
async function project(rows: Row[]) {
  const { key, projectId } = await api.tenant('business')
  for (const { name, fields, set } of rows) {
    const body = { name, type: 'http', url: 'https://example.com', ...fields }
    const created = await api.call('POST', '/monitors', { key, body })
    t.equal(created.status, 201, name)
    if (set) await execute(db, `UPDATE monitors SET ${set} WHERE id = ?`, [created.body.data.id])
  }
  const names = async (search: string): Promise<string[]> => {
    const { status, body } = await api.call('GET', `/monitors${search}`, { key })
    t.equal(status, 200, search)
    t.same(findAnswerDifferences(operation, status, body), [])
    const found = body.data.map(({ name }: { name: string }) => name)
    t.equal(body.meta.total >= found.length, true)
    return found
  }
  return { key, projectId, names }
}

const changed = (status: string | null, minutesAgo: number) =>
  `status = ${status === null ? 'NULL' : `'${status}'`}, status_changed_at = now() - interval '${minutesAgo} minutes'`

t.test('GET /monitors 200 sorts by name, by status with down first, and by the last change', async t => {
  const { names } = await project([
    { name: 'beta', set: changed('up', 9) },
    { name: 'Alpha', set: changed('down', 60) },
    { name: 'gamma', set: changed('down', 2) },
    { name: 'Delta', set: changed('degraded', 1) },
    { name: 'epsilon' },
    { name: 'Zeta', set: `is_paused = true, ${changed(null, 0)}` },
  ])
  t.same(await names(''), ['Zeta', 'epsilon', 'Delta', 'gamma', 'Alpha', 'beta'])
  t.same(await names('?sort=created'), ['Zeta', 'epsilon', 'Delta', 'gamma', 'Alpha', 'beta'])
  t.same(await names('?sort=name'), ['Alpha', 'beta', 'Delta', 'epsilon', 'gamma', 'Zeta'])
  t.same(await names('?sort=status'), ['gamma', 'Alpha', 'Delta', 'epsilon', 'beta', 'Zeta'])
  t.same(await names('?sort=changed'), ['Zeta', 'Delta', 'gamma', 'beta', 'Alpha', 'epsilon'])
  t.same(await names('?sort=status&status=up,down&per_page=2&page=2'), ['beta'])
})

t.test('GET /monitors 200 sorts by the end of the certificate or the domain, whichever is first', async t => {
  const ends = (certificate: number | null, domain: number | null) => {
    const days = (count: number | null) => (count === null ? 'NULL' : `now() + interval '${count} days'`)
    return `ssl_expires_at = ${days(certificate)}, domain_expires_at = ${days(domain)}`
  }
  const { names } = await project([
    { name: 'domain soon', set: ends(80, 5) },
    { name: 'neither' },
    { name: 'certificate soon', set: ends(3, 300) },
    { name: 'ended', set: ends(-1, null) },
    { name: 'later', set: ends(null, 40) },
  ])
  t.same(await names('?sort=expires'), ['ended', 'certificate soon', 'domain soon', 'later', 'neither'])
})

t.test('GET /monitors 200 has each monitor on exactly one page, in every order, also when all are equal', async t => {
  const { key, projectId } = await api.tenant()
  const ids = await insertMonitors(db, projectId, 25, { name: 'Same' })
  for (const sort of MONITOR_SORTS) {
    const listed: string[] = []
    for (const page of [1, 2, 3, 4]) {
      const { body } = await api.call('GET', `/monitors?sort=${sort}&per_page=7&page=${page}`, { key })
      listed.push(...body.data.map(({ id }: { id: string }) => id))
    }
    t.same(listed, ids.toSorted().reverse(), sort)
  }
})

/** The plan of the statement that lists a page in this order. */
async function explain(projectId: string, sort: MonitorSort): Promise<string> {
  const statements: { sql: string; bindings: unknown[] }[] = []
  const note = (one: { sql: string; bindings: unknown[] }) => void statements.push(one)
  db.on('query', note)
  await listMonitors(db, projectId, ALL_MONITORS, { limit: 5, offset: 0 }, sort)
  db.off('query', note)
  const connection = await db.client.acquireConnection()
  try {
    const { sql, bindings } = statements[0]!
    const { rows } = await connection.query(`EXPLAIN (FORMAT JSON) ${sql}`, bindings)
    return JSON.stringify(rows)
  } finally {
    await db.client.releaseConnection(connection)
  }
}

t.test('GET /monitors 200 reads a page of each order from an index, without sorting', async t => {
  const { key, projectId } = await api.tenant()
  await insertMonitors(db, projectId, 3_000)
  await query(db, 'ANALYZE monitors')
  // in a small database the primary key has the order of `created` as well
  const indexes = {
    created: /by_project|pkey/,
    name: /by_name/,
    status: /by_status/,
    changed: /by_change/,
    expires: /by_expiry/,
  }
  for (const sort of MONITOR_SORTS) {
    t.equal((await api.call('GET', `/monitors?sort=${sort}`, { key })).body.meta.total, 3_000)
    const plan = await explain(projectId, sort)
    t.match(/Index Name":"(\w+)/.exec(plan)?.[1], indexes[sort], sort)
    t.notMatch(plan, '"Sort"', sort)
  }
})

t.test('GET /monitors 200 filters by pause, missing status and region', async t => {
  const { names } = await project([
    { name: 'up', set: changed('up', 1), fields: { regions: ['us-east', 'eu-west'] } },
    { name: 'paused', set: 'is_paused = true', fields: { regions: ['eu-west'] } },
    { name: 'new', fields: { regions: ['ap-southeast'] } },
  ])
  t.same(await names('?paused=true'), ['paused'])
  t.same(await names('?paused=false'), ['new', 'up'])
  t.same(await names('?pending=true'), ['new'])
  t.same(await names('?pending=false'), ['paused', 'up'])
  t.same(await names('?region=eu-west'), ['paused', 'up'])
  t.same(await names('?region=us-east,ap-southeast'), ['new', 'up'])
  t.same(await names('?region=us-west'), [])
  t.same(await names('?region=eu-west&paused=false&sort=name'), ['up'])
})

t.test('GET /monitors 200 filters by several tags, with and and not', async t => {
  const { names } = await project([
    { name: 'one', fields: { tags: ['web', 'eu'] } },
    { name: 'two', fields: { tags: ['web', 'us', 'a,b', '-x'] } },
    { name: 'three', fields: { tags: ['db', 'eu'] } },
    { name: 'none' },
  ])
  t.same(await names('?tag=web'), ['two', 'one'])
  t.same(await names('?tag=web&tag=eu'), ['one'])
  t.same(await names('?tag=a,b'), ['two'], 'a comma is part of a tag')
  t.same(await names('?tag=-x'), ['two'], 'a dash is part of a tag')
  t.same(await names('?not_tag=web'), ['none', 'three'])
  t.same(await names('?not_tag=us&not_tag=db'), ['none', 'one'])
  t.same(await names('?tag=eu&not_tag=db'), ['one'])
  t.same(await names('?tag=web&not_tag=web'), [])
})

t.test('GET /monitors 200 filters by configuration issues, of settings, of regions and of missing checks', async t => {
  await insertLiveProbe('us-east', ['http'])
  const since = Date.parse('2026-08-01T12:00:00.000Z')
  const { key, projectId, names } = await project([
    { name: 'fine' },
    { name: 'no keyword', fields: { type: 'keyword' } },
    { name: 'no probe', fields: { regions: ['ap-northeast'] } },
    { name: 'unchecked' },
    { name: 'paused', fields: { regions: ['ap-northeast'] }, set: 'is_paused = true' },
  ])
  await execute(
    db,
    `INSERT INTO verdict_states (monitor_id, partition, state, updated_at)
     SELECT id, partition, jsonb_build_object('unchecked', jsonb_build_object('sinceMs', CAST(:since AS bigint))), now()
     FROM monitors WHERE project_id = :projectId AND name = 'unchecked'`,
    { since, projectId },
  )
  await insertMonitors(db, (await api.tenant()).projectId, 1, { regions: ['ap-northeast'] })
  // an answer may be 2 s old in what it says about probes
  const isProbeKnown = async () => {
    const { body } = await api.call('GET', '/monitors?issue=false', { key })
    return body.data.some(({ name }: { name: string }) => name === 'fine')
  }
  await waitFor(isProbeKnown, { label: 'the live probe' })
  t.same(await names('?issue=true'), ['unchecked', 'no probe', 'no keyword'])
  t.same(await names('?issue=false'), ['paused', 'fine'])
  t.same(await names('?issue=true&sort=name&per_page=2'), ['no keyword', 'no probe'])
  t.same(await names('?issue=true&q=key'), ['no keyword'])
  const { body } = await api.call('GET', '/monitors?issue=true&per_page=1', { key })
  t.same(body.meta, { page: 1, per_page: 1, total: 3, total_pages: 3 })
  const all = await api.call('GET', '/monitors', { key })
  for (const { name, configuration_issues: issues } of all.body.data) {
    t.equal(issues.length > 0, ['unchecked', 'no probe', 'no keyword'].includes(name), name)
  }
})

t.test('GET /monitors 200 filters by whether an outage is sent to a channel', async t => {
  const { key, names } = await project([
    { name: 'ruled' },
    { name: 'recovery only' },
    { name: 'paused channel' },
    { name: 'none' },
  ])
  const other = await api.tenant()
  const create = async (path: string, body: object, as = key) => {
    const created = await api.call('POST', path, { key: as, body })
    t.equal(created.status, 201, path)
    return created.body.data.id as string
  }
  const listed = await api.call('GET', '/monitors', { key })
  const findId = (name: string) => listed.body.data.find((one: { name: string }) => one.name === name).id
  const channel = (name: string, as = key) =>
    create('/alerts/channels', { name, type: 'webhook', config: { url: 'https://hooks.example.com/' } }, as)
  const [open, paused] = [await channel('open'), await channel('paused')]
  await execute(db, 'UPDATE alert_channels SET is_paused = true, paused_at = now() WHERE id = ?', [paused])
  const rule = (name: string, alert_channel_id: string, settings: object = {}) =>
    create('/alerts/rules', { monitor_id: findId(name), alert_channel_id, ...settings })
  await rule('ruled', open)
  await rule('recovery only', open, { on_down: false })
  await rule('paused channel', paused)
  const subscribe = (alert_channel_id: string, alert_type: string, as = key) =>
    create('/alerts/project-channels', { alert_channel_id, alert_type }, as)
  await subscribe(open, 'dependency_incident')
  await subscribe(paused, 'incident')
  await subscribe(await channel('foreign', other.key), 'incident', other.key)
  t.same(await names('?alerted=true'), ['ruled'])
  t.same(await names('?alerted=false'), ['none', 'paused channel', 'recovery only'])
  t.same(await names('?alerted=false&paused=false&q=none'), ['none'])
  const { body } = await api.call('GET', '/monitors?alerted=false&per_page=1', { key })
  t.equal(body.meta.total, 3)

  const change = { alert_rules: { add: [{ alert_channel_id: open }] } }
  const changed = await api.call('POST', '/monitors/bulk-changes', {
    key,
    body: { query: { alerted: false }, change, dry_run: false },
  })
  t.match(changed.body.data, { changed: 2, unchanged: 1 }, 'a rule that exists stays as it is')
  t.same(await names('?alerted=false'), ['recovery only'])
  await subscribe(open, 'incident')
  t.same(await names('?alerted=false'), [], 'a subscription to incidents covers every monitor')
})

t.test(
  'GET /monitors 400 for an unknown order or region, more than ten tags, and a flag that is not a boolean',
  async t => {
    const { names } = await project([])
    const tags = (count: number) => Array.from({ length: count }, (_, i) => `tag=t${i}`).join('&')
    t.same(await names(`?${tags(10)}`), [])
    for (const query of [
      'sort=age',
      'region=mars',
      tags(11),
      'paused=yes',
      'pending=1',
      'issue=',
      'alerted=no',
      'sort=name&sort=name',
    ]) {
      const { status, body } = await api.call('GET', `/monitors?${query}`)
      t.match({ status, body }, { status: 400, body: { error: { code: 'validation_error' } } }, query)
    }
  },
)

/** A live probe with these capabilities, as the fleet stores it. */
async function insertLiveProbe(region: string, capabilities: string[]): Promise<void> {
  const [probe, token] = [uuidv7(), uuidv7()]
  await execute(
    db,
    `INSERT INTO probe_tokens (id, region, token_hash, is_reusable, created_at)
     VALUES (:token, :region, decode(md5(CAST(:token AS text)), 'hex'), true, now())`,
    { token, region },
  )
  await execute(
    db,
    `INSERT INTO probes (id, token_id, name, instance_id, region, version, capabilities, created_at, last_seen_at)
     VALUES (:probe, :token, 'test', 'one', :region, '1', CAST(:capabilities AS text[]), now(), now())`,
    { probe, token, region, capabilities },
  )
  await execute(
    db,
    `INSERT INTO region_epochs (region, epoch, probe_ids, updated_at) VALUES (:region, 1, ARRAY[CAST(:probe AS uuid)], now())
     ON CONFLICT (region) DO UPDATE SET probe_ids = excluded.probe_ids`,
    { region, probe },
  )
}
