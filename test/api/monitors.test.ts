import t from 'tap'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import type { MonitoringStateReader } from '../../control-plane/monitoring/monitors/responses/monitor-response.ts'
import { monitorRoutes } from '../../control-plane/monitoring/monitors/routes.ts'
import { createResourceApi } from '../support/resource-api.ts'

const checkedAt = new Date('2026-08-01T12:00:00.000Z')
const api = await createResourceApi(t, (app, handles) => {
  const watching: MonitoringStateReader = async (_projectId, monitors) => ({
    lastCheckedAt: new Map(monitors.map(({ id }) => [id, checkedAt])),
    liveTypes: null,
  })
  monitorRoutes(app, { ...handles, readMonitoringState: watching })
})
const UNKNOWN = '0190a0a0-0000-7000-8000-000000000000'

/** Ids that the caller cannot use: malformed, unknown, another tenant's. */
async function foreignIds() {
  const other = await api.account()
  const { body } = await other.call('POST /monitors', { name: 'Theirs', type: 'http', url: 'https://example.com' })
  return { 'a malformed id': 'not-an-id', 'an unknown id': UNKNOWN, "another tenant's monitor": body.data.id as string }
}

const readVersion = async (id: string) => {
  const [row] = await query<{ version: number }>(
    api.db,
    'SELECT config_version AS version FROM monitors WHERE id = ?',
    [id],
  )
  return row?.version
}

t.test('POST /monitors 201: name and type are sufficient, all other fields have their defaults', async t => {
  const { call } = await api.account()
  const { status, body } = await call('POST /monitors', { name: 'Shop', type: 'http' })
  t.equal(status, 201)
  const { id, created_at, updated_at, guarantee, ...rest } = body.data
  t.match(guarantee.reasons, [/^incomplete: url is required/])
  t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  t.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.equal(updated_at, created_at)
  t.same(rest, {
    name: 'Shop',
    type: 'http',
    url: null,
    method: 'GET',
    headers: null,
    body: null,
    interval_seconds: 60,
    timeout_ms: 30_000,
    regions: ['us-east'],
    assertions: null,
    auth_type: null,
    auth_config: null,
    keyword: null,
    keyword_type: 'contains',
    heartbeat_interval: null,
    heartbeat_grace: 60,
    ssl_check: false,
    domain_check: false,
    screenshot_on_failure: true,
    screenshot_compare: false,
    screenshot_threshold: 0.05,
    retry_count: 2,
    witness: true,
    witness_with_credentials: false,
    tags: null,
    status: null,
    status_changed_at: null,
    last_checked_at: null,
    is_paused: false,
    ping_url: null,
    ssl_expires_at: null,
    domain_expires_at: null,
    data_source: null,
    configuration_issues: ['url is required to check an http monitor'],
  })
})

t.test('POST /monitors 201: every field is stored and read back, secrets masked', async t => {
  const { call } = await api.account()
  const sent = {
    name: 'Everything',
    type: 'keyword',
    url: 'https://example.com/a?b=c#d',
    method: 'POST',
    body: 'line 1\nline 2',
    interval_seconds: 3600,
    timeout_ms: 60_000,
    regions: ['eu-west', 'us-east'],
    assertions: [{ type: 'status_code', operator: 'equals', value: '2xx' }],
    auth_type: 'basic',
    keyword: 'a.+b',
    keyword_type: 'regex',
    heartbeat_interval: 30,
    heartbeat_grace: 0,
    ssl_check: true,
    domain_check: true,
    screenshot_on_failure: false,
    screenshot_compare: true,
    screenshot_threshold: 1,
    retry_count: 0,
    witness: false,
    witness_with_credentials: true,
    tags: ['a', 'b "c" \\ {d}'],
  }
  const secret = {
    headers: { 'X-Plain': 'seen', Authorization: 'Bearer hush' },
    auth_config: { username: 'bob', password: 'hush' },
  }
  const masked = {
    headers: { 'X-Plain': 'seen', Authorization: '********' },
    auth_config: { username: 'bob', password: '********' },
  }
  const created = await call('POST /monitors', { ...sent, ...secret })
  t.equal(created.status, 201)
  t.match(created.body.data, { ...sent, ...masked, configuration_issues: [] })
  const read = await call(`GET /monitors/${created.body.data.id}`)
  t.equal(read.status, 200)
  const { guarantee, ...stored } = created.body.data
  t.equal(guarantee.outages.length, 4)
  t.same(read.body.data, { ...stored, last_checked_at: checkedAt.toISOString() })
  const [row] = await query<{ text: string }>(api.db, 'SELECT monitors::text AS text FROM monitors WHERE id = ?', [
    created.body.data.id,
  ])
  const hex = (text: string) => Buffer.from(text).toString('hex')
  t.notOk(row?.text.includes('hush') || row?.text.includes(hex('hush')), 'no secret is in the database in plain text')
})

t.test('A url is stored as it was sent, and configuration_issues names what is missing', async t => {
  const { call } = await api.account()
  const namesNoName = 'a dns monitor needs a name to look up, not an address; to name a server, use dns://server/name'
  for (const [type, url, issues] of [
    ['ping', 'example.com', []],
    ['dns', 'dns://example.com', []],
    ['dns', 'dns://9.9.9.9/Example.com?type=MX', []],
    ['dns', '9.9.9.9', [namesNoName]],
  ] as const) {
    const { status, body } = await call('POST /monitors', { name: type, type, url })
    t.equal(status, 201)
    t.same(body.data.configuration_issues, issues)
    t.equal(body.data.url, url, 'the text is stored as it was sent')
  }
  const { body } = await call('POST /monitors', { name: 'Cron', type: 'heartbeat' })
  t.same(body.data.configuration_issues, ['heartbeat_interval is required to check a heartbeat monitor'])
})

t.test('GET /monitors 200: newest first, in pages, by type, status, tag and text', async t => {
  const { call, projectId } = await api.account()
  const url = 'https://example.com/100%_sure'
  await call('POST /monitors/bulk', {
    monitors: [
      { name: 'Alpha', type: 'http', url, tags: ['web', 'eu'] },
      { name: 'Beta 100%', type: 'http', tags: ['web'] },
      { name: 'Gamma', type: 'tcp', url: 'db.example.com:5432' },
    ],
  })
  await api.db.raw(
    `UPDATE monitors SET status = CASE name WHEN 'Alpha' THEN 'down' WHEN 'Gamma' THEN 'up' END WHERE project_id = ?`,
    [projectId],
  )
  const names = async (search: string) => {
    const { status, body } = await call(`GET /monitors${search}`)
    t.equal(status, 200, search)
    return body.data.map((monitor: { name: string }) => monitor.name)
  }
  t.same(await names(''), ['Gamma', 'Beta 100%', 'Alpha'])
  t.same(await names('?page=2&per_page=2'), ['Alpha'])
  t.same((await call('GET /monitors?page=9&per_page=2')).body.meta, { page: 9, per_page: 2, total: 3, total_pages: 2 })
  t.same(await names('?type=http'), ['Beta 100%', 'Alpha'])
  t.same(await names('?status=down'), ['Alpha'])
  t.same(await names('?status=down,up'), ['Gamma', 'Alpha'])
  t.same(await names('?tag=web'), ['Beta 100%', 'Alpha'])
  t.same(await names('?tag=we'), [])
  t.same(await names('?q=EXAMPLE'), ['Gamma', 'Alpha'])
  t.same(await names('?q=0%25_s'), ['Alpha'], 'wildcards of SQL are matched literally')
  t.same(await names('?q=0%25&tag=eu&type=http&status=down'), ['Alpha'])
})

t.test('GET /monitors 400 for a filter outside its enumeration and for a page out of range', async t => {
  const { call } = await api.account()
  for (const search of [
    '?status=broken',
    '?status=up,',
    '?type=smtp',
    '?page=0',
    '?per_page=101',
    '?page=x',
    '?colour=red',
  ]) {
    const { status, body } = await call(`GET /monitors${search}`)
    t.equal(status, 400, search)
    t.equal(body.error.code, 'validation_error')
  }
})

t.test(
  'GET /monitors/{id}, PUT /monitors/{id} and PUT /monitors/{id}/auth 404 for ids that the caller cannot use',
  async t => {
    const { call } = await api.account()
    for (const [what, id] of Object.entries(await foreignIds())) {
      for (const [route, body] of [
        [`GET /monitors/${id}`],
        [`PUT /monitors/${id}`, { name: 'Mine now' }],
        [`PUT /monitors/${id}/auth`, { auth_type: null, auth_config: null }],
      ] as const) {
        t.match(
          await call(route, body),
          { status: 404, body: { error: { code: 'not_found', message: 'monitor not found' } } },
          `${route}: ${what}`,
        )
      }
    }
    t.equal((await call('GET /monitors')).body.meta.total, 0, 'other tenants’ monitors are in no list')
  },
)

t.test('PUT /monitors/{id} 200 changes the fields that the body names; null deletes a value', async t => {
  const { call } = await api.account()
  const created = await call('POST /monitors', {
    name: 'Before',
    type: 'http',
    url: 'https://example.com',
    headers: { a: 'b' },
    body: 'x',
    keyword: 'k',
    tags: ['t'],
    assertions: [{ type: 'body', operator: 'contains', value: 'ok' }],
  })
  const { id } = created.body.data
  const all = {
    name: 'After',
    type: 'keyword',
    url: 'https://example.com/2',
    method: 'HEAD',
    headers: { c: 'd' },
    body: 'y',
    interval_seconds: 30,
    timeout_ms: 1000,
    regions: ['eu-west'],
    keyword: 'l',
    keyword_type: 'not_contains',
    ssl_check: true,
    domain_check: true,
    screenshot_on_failure: false,
    screenshot_compare: true,
    retry_count: 5,
    tags: [],
    assertions: [{ type: 'response_time', operator: 'less_than', value: '500' }],
  }
  const changed = await call(`PUT /monitors/${id}`, all)
  t.equal(changed.status, 200)
  t.match(changed.body.data, { ...all, id, created_at: created.body.data.created_at })
  const nulls = { url: null, headers: null, body: null, assertions: null, keyword: null, tags: null }
  const cleared = await call(`PUT /monitors/${id}`, nulls)
  t.match(cleared.body.data, { ...all, ...nulls })
  const { guarantee, ...stored } = cleared.body.data
  t.same(guarantee.outages, [], 'without an address')
  t.same((await call(`GET /monitors/${id}`)).body.data, stored)
  t.same((await call(`PUT /monitors/${id}`, {})).status, 200, 'an empty update changes nothing')
})

t.test('The config version increases when the check or its evaluation changes, not with names and tags', async t => {
  const { call } = await api.account()
  const { body } = await call('POST /monitors', {
    name: 'A',
    type: 'http',
    url: 'https://example.com',
    regions: ['us-east', 'eu-west'],
  })
  const path = `PUT /monitors/${body.data.id}`
  for (const [change, version] of [
    [{ name: 'B', tags: ['x'], domain_check: true }, 1],
    [{ url: 'https://example.com', retry_count: 2, regions: ['eu-west', 'us-east'] }, 1],
    [{ retry_count: 3 }, 2],
    [{ headers: { a: 'b' } }, 3],
    [{ headers: { a: 'b' } }, 3],
    [{ interval_seconds: 30, timeout_ms: 5000 }, 4],
    [{ type: 'keyword', keyword: 'x' }, 5],
    [{ screenshot_compare: true }, 6],
    [{ witness: true, witness_with_credentials: false }, 6],
    [{ witness: false }, 7],
  ] as const) {
    t.equal((await call(path, change)).status, 200)
    t.equal(await readVersion(body.data.id), version, JSON.stringify(change))
  }
})

t.test('PUT /monitors/{id} 400 for an address or assertion that does not fit the stored fields', async t => {
  const { call } = await api.account()
  const { body } = await call('POST /monitors', { name: 'Port', type: 'tcp', url: 'example.com:443', keyword: '(a' })
  const path = `PUT /monitors/${body.data.id}`
  t.match(await call(path, { type: 'http' }), { status: 400, body: { error: { details: [{ path: 'url' }] } } })
  t.match(await call(path, { keyword_type: 'regex' }), {
    status: 400,
    body: { error: { details: [{ path: 'keyword' }] } },
  })
  t.equal((await call(path, { type: 'http', url: 'https://example.com' })).status, 200)
  t.match((await call(`GET /monitors/${body.data.id}`)).body.data, { type: 'http', keyword_type: 'contains' })
})

t.test('A masked header that is sent back keeps the stored value', async t => {
  const { call } = await api.account()
  const { body } = await call('POST /monitors', {
    name: 'A',
    type: 'http',
    url: 'https://example.com',
    headers: { 'X-Api-Key': 'hush', Accept: 'a' },
  })
  const path = `PUT /monitors/${body.data.id}`
  const kept = await call(path, { headers: { ...body.data.headers, Accept: 'b' } })
  t.same(kept.body.data.headers, { 'X-Api-Key': '********', Accept: 'b' })
  t.equal((await call(path, { headers: { 'x-api-key': 'hush', Accept: 'b' } })).status, 200)
  t.equal(await readVersion(body.data.id), 3, 'only the spelling of the name differed from the stored header')
  t.match(await call(path, { headers: { 'X-Other-Token': '********' } }), {
    status: 400,
    body: { error: { details: [{ path: 'headers.X-Other-Token' }] } },
  })
})

t.test(
  'PUT /monitors/{id}/auth 200 replaces credentials, keeps masked values, and deletes them with nulls',
  async t => {
    const { call } = await api.account()
    const { body } = await call('POST /monitors', { name: 'A', type: 'http', url: 'https://example.com' })
    const path = `PUT /monitors/${body.data.id}/auth`
    const set = await call(path, { auth_type: 'header', auth_config: { name: 'X-Key', value: 'hush', note: 'n' } })
    t.match(set, { status: 200, body: { data: { auth_type: 'header' } } })
    t.same(set.body.data.auth_config, { name: 'X-Key', value: '********', note: '********' })
    t.equal(await readVersion(body.data.id), 2)
    t.equal((await call(path, { auth_type: 'header', auth_config: set.body.data.auth_config })).status, 200)
    t.equal(await readVersion(body.data.id), 2, 'nothing was changed')
    t.match(await call(path, { auth_type: 'bearer', auth_config: { token: '********' } }), {
      status: 400,
      body: { error: { details: [{ path: 'auth_config.token' }] } },
    })
    const cleared = await call(path, { auth_type: null, auth_config: null })
    t.match(cleared.body.data, { auth_type: null, auth_config: null })
  },
)

t.test('A read key can list monitors and cannot change them: 403', async t => {
  const account = await api.account()
  const call = await account.callWith('read')
  t.equal((await call('GET /monitors')).status, 200)
  for (const route of [
    'POST /monitors',
    'POST /monitors/bulk',
    `PUT /monitors/${UNKNOWN}`,
    `PUT /monitors/${UNKNOWN}/auth`,
  ]) {
    t.match(await call(route, {}), { status: 403, body: { error: { code: 'insufficient_scope' } } }, route)
  }
})
