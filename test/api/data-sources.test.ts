import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { FIELD, SOURCE } from '../support/bodies.ts'
import { insertComponents } from '../support/status-pages.ts'

const api = await startApi(t, { EGRESS_ALLOW: '127.0.0.2/32' })
const account = await api.tenant()
const call = (method: string, path: string, body?: object, key = account.key) =>
  api.call(method, path, { key, ...(body && { body }) })

const PLAIN = { name: 'Health', url: 'https://shop.example.com/health.json' }

async function create(body: object = PLAIN): Promise<string> {
  const answer = await call('POST', '/data-sources', body)
  t.match(answer, { status: 201, body: { data: { id: String } } })
  return answer.body.data.id
}
const read = async (id: string) => (await call('GET', `/data-sources/${id}`)).body.data
const readRow = async (id: string) =>
  (
    await query<{ revision: number; isDue: boolean; hash: Buffer | null }>(
      api.db,
      'SELECT revision, next_fetch_at <= now() AS "isDue", seen_hash AS hash FROM data_sources WHERE id = ?',
      [id],
    )
  )[0]!

/** Inserts children as the worker does, without a document. */
async function insertChildren(sourceId: string, fieldId: string, keys: string[]): Promise<string[]> {
  const ids: string[] = []
  for (const key of keys) {
    const monitor = await call('POST', '/monitors', { name: `Service ${key}`, type: 'http', url: PLAIN.url })
    const id = monitor.body.data.id
    ids.push(id)
    await execute(api.db, 'UPDATE monitors SET data_source_id = ? WHERE id = ?', [sourceId, id])
    await execute(
      api.db,
      'INSERT INTO data_source_children (monitor_id, data_source_id, field_id, key, made_name) VALUES (?, ?, ?, ?, ?)',
      [id, sourceId, fieldId, key, `Service ${key}`],
    )
  }
  return ids
}

t.test('POST /data-sources 201 returns the id, applies defaults and makes the source due', async t => {
  const id = await create()
  t.match(await read(id), {
    ...PLAIN,
    ...{ id, description: null, method: 'GET', headers: null, body: null, auth_type: null, auth_config: null },
    ...{ root_path: null, fetch_interval_s: 60, timeout_ms: 10_000, fields: [], field_count: 0 },
    ...{ child_monitor_count: 0, last_fetched_at: null, last_error: null, consecutive_failures: 0 },
  })
  t.match(await readRow(id), { isDue: true })
})

t.test('GET /data-sources 200 lists sources with fields, counts and masked secrets', async t => {
  const id = await create({ ...SOURCE, headers: { 'X-Api-Key': 'hush' } })
  const { status, body } = await call('GET', '/data-sources')
  t.equal(status, 200)
  t.match(body.data[0], {
    ...{ id, field_count: 1, child_monitor_count: 0, headers: { 'X-Api-Key': '********' } },
    ...{ auth_type: 'api_key', auth_config: { header: 'X-Key', value: '********' } },
    fields: [{ ...FIELD, child_monitors: [] }],
  })
  t.notMatch(JSON.stringify(body), /hush|a key of the shop/)
  t.match(body.meta, { page: 1, total: body.data.length, total_pages: 1 })
  const paged = await call('GET', '/data-sources?per_page=1&page=2')
  t.match(paged.body, { data: [{ id: body.data[1].id }], meta: { page: 2, per_page: 1, total: body.data.length } })
})

t.test('GET /data-sources 401 without a key', async t => {
  t.match(await api.call('GET', '/data-sources', { key: null }), { status: 401 })
})

t.test('POST /data-sources 402 when the limit of the plan is reached, also by concurrent requests', async t => {
  const free = await api.tenant('free')
  const answers = await Promise.all([1, 2, 3, 4].map(() => call('POST', '/data-sources', PLAIN, free.key)))
  t.same(answers.map(({ status }) => status).sort(), [201, 201, 402, 402])
  const refused = answers.find(({ status }) => status === 402)!
  t.match(refused.body.error, {
    code: 'tier_limit_reached',
    message: 'the free plan includes 2 data sources and 2 are in use',
  })
  const monitor = { name: 'A', type: 'http', url: PLAIN.url }
  const sourceId = (await call('GET', '/data-sources', undefined, free.key)).body.data[0].id
  for (let i = 0; i < 2; i++) {
    const made = (await call('POST', '/monitors', monitor, free.key)).body.data.id
    await execute(api.db, 'UPDATE monitors SET data_source_id = ? WHERE id = ?', [sourceId, made])
  }
  const project = await call('GET', '/project', undefined, free.key)
  t.match(project.body.data.limits, { data_sources: { used: 2 }, monitors: { used: 0 } })
})

t.test('POST /data-sources 400 lists each problem with its path', async t => {
  const cases: [object, string, RegExp][] = [
    [{ url: 'ftp://shop.example.com' }, 'url', /http or https/],
    [{ url: 'http://10.0.0.1/' }, 'url', /blocked_target/],
    [{ url: 'http://0x7f.1/' }, 'url', /blocked_target/],
    [{ url: 'https://ann:hush@shop.example.com' }, 'url', /credentials/],
    [{ headers: { 'X A': 'b' } }, 'headers.X A', /not a valid header name/],
    [{ headers: { 'X-A': 'b\r\nX-B: c' } }, 'headers.X-A', /one line/],
    [{ headers: { Authorization: '********' } }, 'headers.Authorization', /no value is stored/],
    [{ auth_type: 'basic' }, 'auth_config', /is required with auth_type/],
    [{ auth_config: {} }, 'auth_type', /is required with auth_config/],
    [{ auth_type: 'basic', auth_config: { username: 'a' } }, 'auth_config.password', /is required/],
    [{ auth_type: 'bearer', auth_config: { token: '********' } }, 'auth_config.token', /no value is stored/],
    [{ auth_type: 'bearer', auth_config: { token: '' } }, 'auth_config.token', /must not be empty/],
    [{ auth_type: 'api_key', auth_config: { header: 'X-Y', value: '' } }, 'auth_config.value', /must not be empty/],
    [{ auth_type: 'api_key', auth_config: { header: 'X Y', value: 'b' } }, 'auth_config', /not a valid header name/],
    [{ root_path: 'a..b' }, 'root_path', /recursive descent/],
    [{ root_path: 'a.*' }, 'root_path', /must not contain wildcards/],
    [{ fields: [FIELD, { ...FIELD, path: 'a[' }] }, 'fields[1].path', /is invalid at character 2/],
    [{ fields: [{ ...FIELD, name_template: '{{nmae}}' }] }, 'fields[0].name_template', /contains \{\{nmae\}\}/],
    [{ fields: [{ ...FIELD, rule_config: {} }] }, 'fields[0].rule_config.value', /is required for the rule equals/],
    [
      { fields: [{ ...FIELD, rule_type: 'diff_lte', rule_config: { other_path: 'now', max: 'a' } }] },
      'fields[0].rule_config.max',
      /must be a number/,
    ],
    [{ fields: [{ ...FIELD, degraded_rule_config: {} }] }, 'fields[0].degraded_rule_config.value', /is required/],
  ]
  const before = await query(api.db, 'SELECT id FROM data_sources')
  for (const [more, path, message] of cases) {
    const { status, body } = await call('POST', '/data-sources', { ...PLAIN, ...more })
    t.equal(status, 400, JSON.stringify(more))
    t.match(body.error.details, [{ path, message }], JSON.stringify(more))
  }
  t.same(await query(api.db, 'SELECT id FROM data_sources'), before)
})

t.test('POST /data-sources 201 ignores ids of fields and gives each field a new id', async t => {
  const source = await create({ ...SOURCE, fields: [FIELD] })
  const known = (await call('GET', `/data-sources/${source}/fields`)).body.data[0].id
  const ids = [known, known, uuidv7(), 'mine', '']
  const made = await create({ ...PLAIN, fields: ids.map(id => ({ ...FIELD, id })) })
  const { data } = (await call('GET', `/data-sources/${made}/fields`)).body
  const given: string[] = data.map(({ id }: { id: string }) => id)
  t.equal(new Set([...given, ...ids]).size, given.length + 4, 'five new ids')
  t.match(
    (await call('GET', `/data-sources/${source}/fields`)).body.data,
    [{ id: known }],
    'the other source keeps its field',
  )
})

t.test(
  'PUT /data-sources/{id} 200 updates the given properties and fetches again when the request changes',
  async t => {
    const id = await create(SOURCE)
    await execute(api.db, `UPDATE data_sources SET next_fetch_at = now() + interval '1 hour', seen_hash = '\\x00'`)
    t.match(await call('PUT', `/data-sources/${id}`, { name: 'Other', description: null }), {
      status: 200,
      body: { data: { id } },
    })
    t.match(await read(id), { name: 'Other', description: null, url: SOURCE.url, field_count: 1 })
    t.match(await readRow(id), { revision: 1, isDue: false, hash: Buffer })
    await call('PUT', `/data-sources/${id}`, { root_path: null })
    t.match(await readRow(id), { revision: 2, isDue: true, hash: null })
    t.match(await read(id), { root_path: null, auth_config: { header: 'X-Key', value: '********' } })
    await call('PUT', `/data-sources/${id}`, { auth_type: null })
    t.match(await read(id), { auth_type: null, auth_config: null })
  },
)

t.test('PUT /data-sources/{id} 404 for an unknown or deleted source, and for one of another tenant', async t => {
  const id = await create()
  const other = await api.tenant()
  t.match(await call('PUT', `/data-sources/${id}`, { name: 'x' }, other.key), { status: 404 })
  t.match(await call('DELETE', `/data-sources/${id}`), { status: 200, body: { data: { id, deleted: true } } })
  for (const gone of [id, uuidv7(), 'x']) {
    t.match(await call('PUT', `/data-sources/${gone}`, { name: 'x' }), { status: 404 })
    t.match(await call('POST', `/data-sources/${gone}/fields`, FIELD), { status: 404 })
    const wrong = { url: 'ftp://a.example', root_path: '$.a[*]', fields: [{ ...FIELD, name_template: '{{' }] }
    const change = await call('PUT', `/data-sources/${gone}`, wrong)
    t.match(change, { status: 400 }, 'a wrong body comes first')
    const paths = change.body.error.details.map(({ path }: { path: string }) => path)
    t.same(paths, ['url', 'root_path', 'fields[0].name_template'])
    const field = await call('POST', `/data-sources/${gone}/fields`, { ...FIELD, name_template: '{{' })
    t.match(field, { status: 400, body: { error: { details: [{ path: 'name_template' }] } } })
  }
})

t.test('A mask keeps the stored secret, and a write key cannot send it to another origin', async t => {
  const id = await create({ ...SOURCE, headers: { 'X-Api-Key': 'hush' } })
  const writeKey = await api.createKey(account, 'write')
  const encrypted = () => query(api.db, 'SELECT headers, auth_config FROM data_sources WHERE id = ?', [id])
  const before = await encrypted()
  const masked = { headers: { 'X-Api-Key': '********' }, auth_config: { header: 'X-Key', value: '********' } }
  t.match(await call('PUT', `/data-sources/${id}`, masked), { status: 200 })
  t.same(await encrypted(), before)
  const elsewhere = { url: 'https://evil.example.com/' }
  for (const body of [elsewhere, { ...elsewhere, ...masked }, { ...elsewhere, headers: null }]) {
    t.match(await call('PUT', `/data-sources/${id}`, body, writeKey), {
      status: 403,
      body: { error: { code: 'insufficient_scope', message: /auth_config/ } },
    })
  }
  const own = { ...elsewhere, headers: null, auth_config: { header: 'X-Key', value: 'new' } }
  t.match(await call('PUT', `/data-sources/${id}`, own, writeKey), { status: 200 })
  t.match(await call('PUT', `/data-sources/${id}`, { url: SOURCE.url }), { status: 200 }, 'an admin may')
})

t.test('PUT with fields replaces the fields by id and archives the monitors of omitted fields', async t => {
  const id = await create({ ...SOURCE, fields: [FIELD, { ...FIELD, path: 'b.*' }] })
  const [first, second] = (await read(id)).fields
  const [monitor] = await insertChildren(id, second.id, ['x'])
  const [kept] = await insertChildren(id, first.id, ['y'])
  await call('PUT', `/data-sources/${id}`, {
    fields: [
      { ...FIELD, path: 'c.*', display_order: 9 },
      { ...FIELD, id: first.id, name_template: 'New {{key}}', display_order: 1 },
    ],
  })
  const after = await read(id)
  t.match(after.fields, [
    { id: first.id, name_template: 'New {{key}}', child_monitors: [{ monitor_id: kept, key: 'y', status: null }] },
    { path: 'c.*', child_monitors: [] },
  ])
  t.equal(after.child_monitor_count, 1)
  t.match(await call('GET', `/monitors/${monitor}`), { status: 404 })
  const twice = [
    { ...FIELD, id: first.id },
    { ...FIELD, id: first.id },
  ]
  t.match(await call('PUT', `/data-sources/${id}`, { fields: twice }), {
    status: 400,
    body: { error: { details: [{ path: 'fields[1].id' }] } },
  })
  t.match(await call('PUT', `/data-sources/${id}`, { fields: [{ ...FIELD, id: second.id }] }), { status: 404 })
})

t.test('GET /data-sources/{id}/fields 200 lists fields in display order, in pages on request', async t => {
  const id = await create()
  for (const [path, display_order] of [
    ['c', 3],
    ['a', 1.5],
    ['b', 2],
  ] as const) {
    t.match(await call('POST', `/data-sources/${id}/fields`, { ...FIELD, path, display_order }), { status: 201 })
  }
  const { display_order: _, ...last } = FIELD
  t.match(await call('POST', `/data-sources/${id}/fields`, { ...last, path: 'd' }), {
    body: { data: { display_order: 4 } },
  })
  const { status, body } = await call('GET', `/data-sources/${id}/fields`)
  t.equal(status, 200)
  t.match(body, { data: ['a', 'b', 'c', 'd'].map(path => ({ path })), meta: { total: 4, total_pages: 1 } })
  const paged = await call('GET', `/data-sources/${id}/fields?per_page=2&page=2`)
  t.match(paged.body, {
    data: [{ path: 'c' }, { path: 'd' }],
    meta: { page: 2, per_page: 2, total: 4, total_pages: 2 },
  })
})

t.test('A field can be created, updated and deleted, and each change fetches the source again', async t => {
  const id = await create()
  const path = `/data-sources/${id}/fields`
  const field = (await call('POST', path, FIELD)).body.data
  t.match(field, { ...FIELD, child_monitors: [] })
  t.match(await readRow(id), { revision: 2 })
  t.match(await call('PUT', `${path}/${field.id}`, { rule_type: 'truthy', rule_config: {} }), {
    status: 200,
    body: { data: { rule_type: 'truthy', path: FIELD.path, degraded_rule_config: { value: 'slow' } } },
  })
  t.match(await call('PUT', `${path}/${field.id}`, { rule_type: 'in' }), {
    status: 400,
    body: { error: { details: [{ path: 'rule_config.values' }, { path: 'degraded_rule_config.values' }] } },
  })
  const [monitor] = await insertChildren(id, field.id, ['x'])
  t.match(await call('DELETE', `${path}/${field.id}`), { status: 200, body: { data: { id: field.id, deleted: true } } })
  t.match(await call('GET', `/monitors/${monitor}`), { status: 404 })
  t.match(await readRow(id), { revision: 4 })
  for (const gone of [field.id, 'x']) t.match(await call('DELETE', `${path}/${gone}`), { status: 404 })
})

t.test('POST /data-sources/{id}/fields 409 when the source has 50 fields', async t => {
  const id = await create({ ...PLAIN, fields: Array(50).fill(FIELD) })
  t.match(await call('POST', `/data-sources/${id}/fields`, FIELD), {
    status: 409,
    body: { error: { message: /at most 50/ } },
  })
})

t.test('Deleting a source deletes its monitors and resolves their incidents', async t => {
  const id = await create({ ...PLAIN, fields: [FIELD] })
  const { fields } = await read(id)
  const monitors = await insertChildren(id, fields[0].id, ['x', 'y'])
  await execute(
    api.db,
    `INSERT INTO incidents (id, project_id, title, severity, status, source, cause_monitor_id, started_at, created_at, updated_at)
     VALUES (?, ?, 'x is down', 'critical', 'investigating', 'automatic', ?, now(), now(), now())`,
    [uuidv7(), account.projectId, monitors[0]!],
  )
  t.match(await call('DELETE', `/data-sources/${id}`), { status: 200 })
  for (const monitor of monitors) t.match(await call('GET', `/monitors/${monitor}`), { status: 404 })
  const { body } = await call('GET', '/incidents?status=resolved')
  t.match(body.data, [{ title: 'x is down', status: 'resolved' }])
})

t.test('POST /data-sources/{id}/refresh 200 makes the source due', async t => {
  const id = await create()
  await execute(api.db, `UPDATE data_sources SET next_fetch_at = now() + interval '1 hour' WHERE id = ?`, [id])
  t.match(await call('POST', `/data-sources/${id}/refresh`), { status: 200, body: { data: { id } } })
  t.match(await readRow(id), { isDue: true, revision: 1 })
})

t.test('POST /data-sources/{id}/publish 200 creates one component for each child monitor, once', async t => {
  const id = await create({ ...PLAIN, fields: [FIELD, { ...FIELD, path: 'b.*' }, { ...FIELD, path: 'c.*' }] })
  const [a, b] = (await read(id)).fields
  await insertChildren(id, a.id, ['x', 'y'])
  await insertChildren(id, b.id, ['z'])
  const page = (await call('POST', '/status-pages', { name: 'Acme', slug: uuidv7() })).body.data.id
  const group = (await call('POST', `/status-pages/${page}/groups`, { name: 'Services' })).body.data.id
  const body = { status_page_id: page, group_id: group, field_ids: [a.id] }
  const first = await call('POST', `/data-sources/${id}/publish`, body)
  t.equal(first.status, 200)
  t.equal(first.body.data.created_component_ids.length, 2)
  const more = await call('POST', `/data-sources/${id}/publish`, { ...body, group_id: null, field_ids: [b.id, a.id] })
  t.equal(more.body.data.created_component_ids.length, 1)
  t.same((await call('POST', `/data-sources/${id}/publish`, body)).body.data.created_component_ids, [])
  const components = (await call('GET', `/status-pages/${page}/components`)).body.data
  t.match(components, [
    { id: first?.body.data.created_component_ids[0], name: 'Service x', group_id: group, status: 'unknown' },
    { name: 'Service y', group_id: group },
    { name: 'Service z', group_id: null },
  ])
  t.ok(components[1].display_order < components[2].display_order)
})

t.test('POST /data-sources/{id}/publish 409 when the page would have more than 500 components', async t => {
  const id = await create({ ...PLAIN, fields: [FIELD] })
  const [field] = (await read(id)).fields
  await insertChildren(id, field.id, ['x'])
  const page = (await call('POST', '/status-pages', { name: 'Acme', slug: uuidv7() })).body.data.id
  await insertComponents(api.db, page, 500)
  const body = { status_page_id: page, field_ids: [field.id] }
  t.match(await call('POST', `/data-sources/${id}/publish`, body), {
    status: 409,
    body: { error: { message: /at most 500/ } },
  })
})

t.test('Only name and tags of a monitor of a data source can be changed, and it cannot be deleted', async t => {
  const id = await create({ ...PLAIN, fields: [FIELD] })
  const [monitor] = await insertChildren(id, (await read(id)).fields[0].id, ['x'])
  t.match(await call('PUT', `/monitors/${monitor}`, { name: 'Mine', tags: ['mine'] }), { status: 200 })
  for (const [method, end, body] of [
    ['PUT', '', { interval_seconds: 300 }],
    ['PUT', '/auth', { auth_type: 'bearer', auth_config: { token: 'x' } }],
    ['DELETE', '', undefined],
  ] as const) {
    const answer = await call(method, `/monitors/${monitor}${end}`, body)
    t.match(answer, { status: 409, body: { error: { message: /data source instead/ } } }, `${method} ${end}`)
  }
})

t.test('POST /data-sources/{id}/publish 404 for an unknown source, page, group or field', async t => {
  const id = await create({ ...PLAIN, fields: [FIELD] })
  const [field] = (await read(id)).fields
  const page = (await call('POST', '/status-pages', { name: 'Acme', slug: uuidv7() })).body.data.id
  const other = await api.tenant()
  const theirs = (await call('POST', '/status-pages', { name: 'Other', slug: uuidv7() }, other.key)).body.data.id
  const good = { status_page_id: page, field_ids: [field.id] }
  for (const [source, body] of [
    [uuidv7(), good],
    ['x', good],
    [id, { ...good, status_page_id: theirs }],
    [id, { ...good, status_page_id: 'x' }],
    [id, { ...good, group_id: uuidv7() }],
    [id, { ...good, field_ids: [field.id, uuidv7()] }],
    [id, { ...good, field_ids: ['x'] }],
  ] as const) {
    t.match(await call('POST', `/data-sources/${source}/publish`, body), { status: 404 }, JSON.stringify(body))
  }
  t.same((await call('GET', `/status-pages/${page}/components`)).body.data, [])
})
