import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { dependencyRoutes } from '../../control-plane/integrations/vendors/dependencies/dependency-routes.ts'
import { incidentRoutes } from '../../control-plane/verdict/incidents/api/routes.ts'
import { openAutomaticIncidents } from '../../control-plane/verdict/incidents/automatic-actions.ts'
import { type Account, type Call, createResourceApi } from '../support/resource-api.ts'
import { insertChannel, insertMonitor } from '../support/verdict.ts'
import { runWhileLocked } from '../support/while-held.ts'

const api = await createResourceApi(t, (app, handles) => {
  dependencyRoutes(app, { ...handles, testsPerMinute: 60 })
  incidentRoutes(app, handles)
})
const UNKNOWN = '0190a0a0-0000-7000-8000-000000000000'
const ACME = { name: 'Acme', status_url: 'https://status.acme.example', feed_type: 'statuspage' }
const listDetailPaths = (answer: { body: { error: { details: { path: string }[] } } }) =>
  answer.body.error.details.map(({ path }) => path)
const create = async (call: Call, body: object = ACME): Promise<string> =>
  (await call('POST /dependencies', body)).body.data.id

t.test('GET /dependencies/catalog 200 lists vendors by name, with filters and pages', async t => {
  const { call } = await api.account()
  const { status, body } = await call('GET /dependencies/catalog?per_page=3&q=git')
  t.equal(status, 200)
  t.same(
    body.data.map(({ slug }: { slug: string }) => slug),
    ['digitalocean', 'github', 'gitlab'],
  )
  t.same(body.data[1], {
    slug: 'github',
    name: 'GitHub',
    category: 'developer',
    status_url: 'https://www.githubstatus.com',
    feed_type: 'statuspage',
    feed_url: 'https://www.githubstatus.com/api/v2/summary.json',
    dependency_id: null,
  })
  await create(call, { slug: 'github' })
  const newest = await create(call, { slug: 'github', components: ['Pages'] })
  const marked = (await call('GET /dependencies/catalog?per_page=3&q=git')).body.data
  t.same(
    marked.map((entry: { dependency_id: string | null }) => entry.dependency_id),
    [null, newest, null],
    'the newest dependency on each vendor',
  )
  const other = await api.account()
  t.equal((await other.call('GET /dependencies/catalog?q=github')).body.data[0].dependency_id, null, "another tenant's")
  t.ok((await call('GET /dependencies/catalog')).body.meta.total >= 100)
  t.ok((await call('GET /dependencies/catalog?category=registry')).body.meta.total >= 5)
  t.equal((await call('GET /dependencies/catalog?category=nothing')).status, 400)
  t.equal((await call('GET /dependencies/catalog?per_page=101')).status, 400)
})

t.test('POST /dependencies 201 creates a dependency by slug, which can be read, updated and deleted', async t => {
  const { call, projectId } = await api.account()
  const channelId = await insertChannel(api.db, projectId, [])
  const created = await call('POST /dependencies', {
    slug: 'google-cloud',
    components: ['Cloud Run'],
    overrides: [{ alert_channel_id: channelId.toUpperCase(), on_degraded: false }],
  })
  t.equal(created.status, 201)
  const { id, created_at, updated_at, feed_mapping, ...rest } = created.body.data
  t.same(rest, {
    slug: 'google-cloud',
    name: 'Google Cloud',
    category: 'cloud',
    status_url: 'https://status.cloud.google.com',
    feed_type: 'json',
    feed_url: 'https://status.cloud.google.com/incidents.json',
    components: ['Cloud Run'],
    overrides: [{ alert_channel_id: channelId, on_down: true, on_degraded: false, on_resolved: true }],
    status: 'unknown',
    open_incidents: 0,
    last_checked_at: null,
    last_error: null,
  })
  t.equal(feed_mapping.title, 'external_desc')
  t.equal(created_at, updated_at)
  t.same((await call(`GET /dependencies/${id}`)).body, created.body)

  const second = await create(call)
  const listed = await call('GET /dependencies?per_page=1')
  t.match(listed.body, { data: [{ id: second }], meta: { total: 2, total_pages: 2 } }, 'newest first')

  const changed = await call(`PUT /dependencies/${id}`, { name: 'Our cloud', overrides: [] })
  t.match(changed.body.data, { slug: 'google-cloud', name: 'Our cloud', components: ['Cloud Run'], overrides: [] })
  t.same((await call(`DELETE /dependencies/${id}`)).body, { data: { id, deleted: true } })
  for (const route of [`GET /dependencies/${id}`, `DELETE /dependencies/${id}`, `GET /dependencies/${id}/incidents`]) {
    t.equal((await call(route)).status, 404)
  }
})

t.test('POST /dependencies 201 creates a dependency by address and derives its feed', async t => {
  const { call } = await api.account()
  const record = async (body: object) => (await call('POST /dependencies', { ...ACME, ...body })).body.data
  t.match(await record({}), { slug: null, category: 'other', feed_url: `${ACME.status_url}/api/v2/summary.json` })
  const rss = { feed_type: 'rss', status_url: 'https://acme.example/status', feed_url: 'https://acme.example/rss' }
  t.match(await record(rss), rss)
  t.match(await record({ feed_type: 'atom' }), { feed_url: ACME.status_url })
  const json = { feed_type: 'json', feed_mapping: { incidents: '$', title: 'name' } }
  t.match(await record(json), { feed_url: ACME.status_url, feed_mapping: json.feed_mapping })
})

t.test('PUT /dependencies/{id} 200 with an address removes the slug and changes the feed', async t => {
  const { call } = await api.account()
  const id = await create(call, { slug: 'github' })
  const { body } = await call(`PUT /dependencies/${id}`, { status_url: 'https://status.example.com/' })
  const feed_url = 'https://status.example.com/api/v2/summary.json'
  t.match(body.data, { slug: null, name: 'GitHub', status_url: 'https://status.example.com/', feed_url })
  t.equal((await call(`PUT /dependencies/${id}`, { feed_mapping: { title: 'name' } })).status, 400)
  t.equal((await call(`PUT /dependencies/${UNKNOWN}`, { name: 'Unknown' })).status, 404)
})

const BAD: [title: string, body: object, paths: string[]][] = [
  ['an empty body', {}, ['name', 'status_url', 'feed_type']],
  ['a slug with an address', { slug: 'github', status_url: ACME.status_url }, ['status_url']],
  ['an invalid address', { ...ACME, status_url: 'status.acme.example' }, ['status_url']],
  ['another scheme', { ...ACME, status_url: 'ftp://acme.example/' }, ['status_url']],
  ['a private address', { ...ACME, status_url: 'http://169.254.169.254/latest' }, ['status_url']],
  ['a private address of the feed', { ...ACME, feed_url: 'http://[::1]/feed' }, ['feed_url']],
  ['credentials in an address', { ...ACME, status_url: 'https://a:b@acme.example' }, ['status_url']],
  ['a mapping for a feed that is not JSON', { ...ACME, feed_mapping: { title: 'name' } }, ['feed_mapping']],
  [
    'an unknown field in a mapping',
    { ...ACME, feed_type: 'json', feed_mapping: { colour: 'a' } },
    ['feed_mapping.colour'],
  ],
  ['an unknown type of feed', { ...ACME, feed_type: 'xml' }, ['feed_type']],
]
for (const [title, body, paths] of BAD) {
  t.test(`POST /dependencies 400 for ${title} stores nothing`, async t => {
    const { call } = await api.account()
    const answer = await call('POST /dependencies', body)
    t.equal(answer.status, 400)
    t.same(listDetailPaths(answer), paths)
    t.equal((await call('GET /dependencies')).body.meta.total, 0)
  })
}

t.test('POST /dependencies 404 for an unknown slug, and for an unknown channel or one of another project', async t => {
  const [{ call }, stranger] = [await api.account(), await api.account()]
  const foreign = await insertChannel(api.db, stranger.projectId, [])
  t.equal((await call('POST /dependencies', { slug: 'unknown' })).status, 404)
  for (const alert_channel_id of [foreign, UNKNOWN, 'no id']) {
    t.equal((await call('POST /dependencies', { ...ACME, overrides: [{ alert_channel_id }] })).status, 404)
  }
  t.equal((await call('GET /dependencies')).body.meta.total, 0)
})

t.test('POST /dependencies 409 beyond 200 dependencies, also by concurrent requests', async t => {
  const { call, projectId } = await api.account()
  const id = await create(call)
  await execute(
    api.db,
    `INSERT INTO dependencies (id, project_id, feed_id, name, category, status_url, feed_url, feed_type, feed_mapping,
       components, created_at, updated_at)
     SELECT gen_random_uuid(), project_id, feed_id, name, category, status_url, feed_url, feed_type, feed_mapping,
       components, created_at, updated_at FROM dependencies, generate_series(1, 198) WHERE id = ? AND project_id = ?`,
    [id, projectId],
  )
  const answers = await Promise.all([1, 2, 3].map(() => call('POST /dependencies', ACME)))
  t.same(answers.map(({ status }) => status).sort(), [201, 409, 409])
  t.match(answers.find(({ status }) => status === 409)?.body.error.message, /200 dependencies/)
})

t.test('PUT /dependencies/{id} 409 when another request changes the dependency at the same time', async t => {
  const { call } = await api.account()
  const id = await create(call)
  const touch = 'UPDATE dependencies SET updated_at = now() WHERE id = ?'
  const change = () => call(`PUT /dependencies/${id}`, { name: 'Acme 2' })
  const refused = await runWhileLocked(api.db, tx => execute(tx, touch, [id]), change)
  t.match(refused, { status: 409, body: { error: { message: /modified by another request/ } } })
  t.equal((await change()).status, 200)
})

t.test('Changes of a dependency are in the audit log', async t => {
  const { call, projectId } = await api.account()
  const id = await create(call)
  await call(`PUT /dependencies/${id}`, { name: 'Renamed' })
  const rows = await query<{ action: string; changes: object }>(
    api.db,
    `SELECT action, changes FROM audit_log WHERE project_id = ? AND resource = 'dependency' ORDER BY seq`,
    [projectId],
  )
  t.match(rows[1]?.changes, { name: { from: 'Acme', to: 'Renamed' } })
  t.equal(rows.length, 2)
})

/** Inserts an incident of a vendor that began and ended this many minutes ago. */
async function insertVendorIncident(
  { projectId }: Account,
  dependencyId: string,
  {
    title,
    severity = 'major',
    from,
    to = null,
  }: { title: string; severity?: string; from: number; to?: number | null },
): Promise<void> {
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000)
  await execute(
    api.db,
    `INSERT INTO vendor_incidents (id, project_id, dependency_id, source_id, title, severity, status, components,
       source_url, started_at, resolved_at, worst, created_at, updated_at)
     VALUES (uuidv7(), :projectId, :dependencyId, :title, :title, :severity, 'investigating', '{API}',
       'https://status.acme.example/1', :from, :to, 'none', now(), now())`,
    { projectId, dependencyId, title, severity, from: ago(from), to: to === null ? null : ago(to) },
  )
}

t.test('GET /dependencies/{id}/incidents 200 lists incidents newest first, and 404 for another project', async t => {
  const account = await api.account()
  const id = await create(account.call)
  await insertVendorIncident(account, id, { title: 'First', from: 60, to: 30 })
  await insertVendorIncident(account, id, { title: 'Second', from: 20 })
  const { body } = await account.call(`GET /dependencies/${id}/incidents?per_page=1`)
  const { id: incidentId, started_at, created_at, updated_at, ...shown } = body.data[0]
  t.same(shown, {
    dependency_id: id,
    title: 'Second',
    severity: 'major',
    status: 'investigating',
    components: ['API'],
    source_url: 'https://status.acme.example/1',
    resolved_at: null,
  })
  t.same(body.meta, { page: 1, per_page: 1, total: 2, total_pages: 2 })
  const stranger = await api.account()
  t.equal((await stranger.call(`GET /dependencies/${id}/incidents`)).status, 404)
})

t.test('GET /incidents/{id} 200 shows overlapping vendor incidents as possible causes, the worst first', async t => {
  const account = await api.account()
  const dependency_id = await create(account.call)
  const monitorId = await insertMonitor(api.db, account.projectId, { name: 'Shop' })
  const outage = { projectId: account.projectId, monitorId, monitorName: 'Shop' }
  const startedAt = new Date(Date.now() - 30 * 60_000)
  const { incidents } = await api.db.transaction(tx =>
    openAutomaticIncidents(tx, [{ ...outage, startedAt }], api.publicUrl, startedAt),
  )
  await insertVendorIncident(account, dependency_id, { title: 'Before', from: 90, to: 60 })
  await insertVendorIncident(account, dependency_id, { title: 'Slow', severity: 'minor', from: 40 })
  await insertVendorIncident(account, dependency_id, { title: 'Reported late', severity: 'critical', from: 10 })
  await insertVendorIncident(account, dependency_id, { title: 'News', severity: 'none', from: 40 })
  const { body } = await account.call(`GET /incidents/${incidents[0]!.id}`)
  t.match(body.data.possible_causes, [
    { dependency_id, name: 'Acme', title: 'Reported late', severity: 'critical', resolved_at: null },
    { dependency_id, name: 'Acme', title: 'Slow', severity: 'minor', source_url: 'https://status.acme.example/1' },
  ])
  t.equal(body.data.possible_causes.length, 2)
  const manual = (await account.call('POST /incidents', { title: 'By hand' })).body.data.id
  t.same((await account.call(`GET /incidents/${manual}`)).body.data.possible_causes, [])
})
