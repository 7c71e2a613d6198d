import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { buildBody, MONITOR } from '../support/bodies.ts'
import { type Operation, readOperations } from '../support/operations.ts'
import { makeOperator } from '../support/operator.ts'
import { buildAddress, createRecords, PIXEL, type Records } from '../support/records.ts'

const api = await startApi(t, { RATE_LIMIT_PER_MINUTE: '1000000' })
const { operations } = await readOperations(api)

/** Operations that store no changed record: tests, checks, previews, refreshes, and what only a person has. */
const CHANGES_NOTHING = [
  'POST /monitors/test',
  'POST /monitors/{id}/check',
  'POST /monitors/{id}/rehearse',
  'POST /alerts/channels/test',
  'POST /alerts/channels/{id}/test',
  'POST /status-pages/{id}/preview',
  'POST /status-pages/{id}/custom-domain/analyze',
  'POST /status-pages/{id}/custom-domain/domain-connect',
  'POST /status-pages/{id}/custom-domain/verify',
  'POST /data-sources/preview',
  'POST /dependencies/test',
  'POST /data-sources/{id}/refresh',
  'PUT /me/preferences',
  // what an import changes is recorded while it runs (imports.test.ts)
  'POST /imports',
  'POST /imports/{id}/apply',
  'DELETE /imports/{id}',
]

/** The resource that a path changes, as named in the log: the first match. A new kind of path needs a line. */
const RESOURCES: [RegExp, string][] = [
  [/^\/monitors/, 'monitor'],
  [/^\/views/, 'view'],
  [/^\/wall-links/, 'wall_link'],
  [/^\/maintenance-windows/, 'maintenance_window'],
  [/^\/silences/, 'silence'],
  [/^\/alerts\/channels/, 'alert_channel'],
  [/^\/alerts\/rules/, 'alert_rule'],
  [/^\/alerts\/project-channels/, 'alert_subscription'],
  [/^\/alerts\/settings/, 'alert_settings'],
  [/^\/alerts\/(log|relay)/, 'delivery'],
  [/^\/incidents\/\{id\}\/updates/, 'incident_update'],
  [/^\/incident-templates/, 'incident_template'],
  [/^\/incidents/, 'incident'],
  [/^\/api-keys/, 'api_key'],
  [/^\/(members|agent\/invite)/, 'member'],
  [/^\/data-sources\/\{id\}\/fields/, 'data_source_field'],
  [/^\/data-sources\/\{id\}\/publish/, 'status_page_component'],
  [/^\/data-sources/, 'data_source'],
  [/^\/dependencies/, 'dependency'],
  [/^\/chat\/installations/, 'chat_installation'],
  [/^\/chat\/identities/, 'chat_identity'],
  [/^\/import/, 'monitor'],
  [/^\/status-pages\/\{id\}\/components/, 'status_page_component'],
  [/^\/status-pages\/\{id\}\/groups/, 'status_page_group'],
  [/^\/status-pages\/\{id\}\/subscribers/, 'subscriber'],
  [/^\/status-pages/, 'status_page'],
  [/^\/probe-tokens/, 'probe_token'],
]

/** Bodies that differ from the stored record, where the body of test/support/bodies.ts does not. */
const OTHERWISE: Record<string, (records: Records) => object> = {
  'PUT /monitors/{id}': () => ({ name: 'Store' }),
  'POST /monitors/bulk-changes': ({ monitor_id }) => ({
    ...{ monitor_ids: [monitor_id], change: { interval_seconds: 300 }, dry_run: false },
  }),
  'PUT /monitors/{id}/auth': () => ({ auth_type: 'bearer', auth_config: { token: 'another' } }),
  'PUT /maintenance-windows/{id}': () => ({ title: 'Restore' }),
  'POST /alerts/rules': ({ parent_id, alert_channel_id }) => ({ monitor_id: parent_id, alert_channel_id }),
  'PUT /alerts/channels/{id}': () => ({ name: 'Pager' }),
  'PUT /status-pages/{id}/components/{cid}': () => ({ name: 'Store' }),
  'PUT /status-pages/{id}/groups/{gid}': () => ({ name: 'Asia' }),
  'PUT /data-sources/{id}': () => ({ name: 'Vitals' }),
  'PUT /data-sources/{id}/fields/{field_id}': () => ({ name_template: 'Service {{key}}' }),
}

/** Operations that change nothing by default. */
const ASKED: Record<string, string> = { 'POST /import': '?dry_run=false' }

/** Puts the records into the state that an operation changes. */
async function prepare({ name }: Operation, records: Records) {
  const { alert_channel_id, log_id, component_id, page_id } = records
  if (name === 'POST /alerts/channels/{id}/resume') {
    await execute(api.db, 'UPDATE alert_channels SET is_paused = true WHERE id = ?', [alert_channel_id])
  }
  if (name.endsWith('/retry')) await execute(api.db, `UPDATE deliveries SET status = 'failed' WHERE id = ?`, [log_id])
  if (name.endsWith('/reorder')) {
    await execute(api.db, 'UPDATE status_page_components SET display_order = 7 WHERE id = ?', [component_id])
  }
  if (name.startsWith('DELETE /status-pages/{id}/custom-domain')) {
    await execute(api.db, `UPDATE status_pages SET custom_domain = 'status.example.com' WHERE id = ?`, [page_id])
  }
  if (name.endsWith('/publish')) await insertChild(records)
}

/** A monitor of a data source. */
const insertChild = ({ parent_id, data_source_id, field_id }: Records) =>
  execute(
    api.db,
    `INSERT INTO data_source_children (monitor_id, data_source_id, field_id, key, made_name) VALUES (?, ?, ?, 'db', 'Router')`,
    [parent_id, data_source_id, field_id],
  )

function send(operation: Operation, address: string, records: Records, key: string) {
  const { name, method, upload, body: schema } = operation
  if (upload) return api.call(method, address, { key, body: PIXEL, headers: { 'content-type': 'image/png' } })
  const body = OTHERWISE[name]?.(records) ?? (schema ? buildBody(operation, records) : undefined)
  return api.call(method, address, { key, ...(body && { body }) })
}

type Row = { actor_kind: string; actor_id: string; ip: string; action: string; resource: string; resource_id: string }

async function rowsAfter(seq: number): Promise<Row[]> {
  return query<Row>(api.db, 'SELECT * FROM audit_log WHERE seq > ? ORDER BY seq', [seq])
}

const newest = async () =>
  (await query<{ seq: number }>(api.db, 'SELECT coalesce(max(seq), 0) AS seq FROM audit_log'))[0]!.seq

/** Deletions that also delete other records come last. */
const LAST = ['/alerts/channels/{id}', '/monitors/{id}', '/status-pages/{id}', '/data-sources/{id}']
const getTurn = ({ method, path }: Operation) => (method === 'DELETE' ? LAST.indexOf(path) + 2 : 0)
const changing = operations
  .filter(({ name, method, isOpen }) => method !== 'GET' && !isOpen && !CHANGES_NOTHING.includes(name))
  .sort((a, b) => getTurn(a) - getTurn(b))

const account = await makeOperator(api.db, await api.tenant())
const records = await createRecords(api, account)
const keys = 'SELECT id FROM api_keys WHERE project_id = ? ORDER BY id LIMIT 1'
const keyId = (await query<{ id: string }>(api.db, keys, [account.projectId]))[0]!.id

for (const operation of changing) {
  t.test(`${operation.name} is in the audit log with its key`, async t => {
    await prepare(operation, records)
    const before = await newest()
    const address = `${buildAddress(operation, records)}${ASKED[operation.name] ?? ''}`
    const { status, body } = await send(operation, address, records, account.key)
    t.ok(status < 300, `${status} ${JSON.stringify(body)}`)

    const rows = await rowsAfter(before)
    t.ok(rows.length > 0)
    for (const row of rows) t.match(row, { actor_kind: 'api_key', actor_id: keyId, ip: '127.0.0.1' })
    const resource = RESOURCES.find(([pattern]) => pattern.test(operation.path))?.[1]
    const entries = rows.filter(row => row.resource === resource)
    // the answer of an import contains names
    const named = JSON.stringify([records, account.projectId, operation.path === '/import' ? rows : body])
    t.ok(
      entries.some(row => (row.resource_id === null || named.includes(row.resource_id)) && fits(operation, row)),
      JSON.stringify(rows, null, 1),
    )
  })
}

/** A record, or a link, is created by a POST to its list and deleted by a DELETE of its address. */
function fits({ method, path, answers }: Operation, { action }: Row): boolean {
  if (method === 'DELETE' && path.endsWith('}')) return action === 'deleted'
  if (method === 'POST' && '201' in answers) return !['updated', 'deleted'].includes(action)
  return action !== 'deleted'
}

t.test('GET /audit-log answers 200 with the changes, newest first, by filter and page', async t => {
  const account = await api.tenant()
  const { key } = account
  const { body } = await api.call('POST', '/monitors', { key, body: { name: 'Shop', type: 'heartbeat' } })
  const { id } = body.data
  await api.call('PUT', `/monitors/${id}`, { key, body: { name: 'Store' } })
  await api.call('DELETE', `/monitors/${id}`, { key })

  const all = await api.call('GET', '/audit-log', { key })
  t.same(
    all.body.data.map((entry: { action: string }) => entry.action),
    ['deleted', 'updated', 'created'],
  )
  t.match(all.body.data[1], {
    actor: { kind: 'api_key', name: /^test \(svc_/, ip: '127.0.0.1' },
    ...{ resource: 'monitor', resource_id: id, resource_name: 'Store' },
    changes: { name: { from: 'Shop', to: 'Store' } },
  })
  t.match(all.body.meta, { page: 1, total: 3 })
  const actorId = all.body.data[0].actor.id
  const counts: [string, number][] = [
    ['action=updated', 1],
    ['resource=monitor', 3],
    ['resource=incident', 0],
    [`resource_id=${id}`, 3],
    [`actor_id=${actorId}`, 3],
    ['actor_id=unknown', 0],
    ['from=2126-01-01T00:00:00Z', 0],
    ['to=2126-01-01T00:00:00Z', 3],
  ]
  for (const [filter, count] of counts) {
    t.equal((await api.call('GET', `/audit-log?${filter}`, { key })).body.meta.total, count, filter)
  }
  const second = await api.call('GET', '/audit-log?page=2&per_page=2', { key })
  t.match(second.body, { data: [{ action: 'created' }], meta: { total: 3, total_pages: 2 } })
})

t.test('GET /audit-log with monitor_id answers 200 with the entries of the monitor and of its alert rules', async t => {
  const { key } = await api.tenant()
  const create = async (path: string, body: object): Promise<string> =>
    (await api.call('POST', path, { key, body })).body.data.id
  const shop = await create('/monitors', { name: 'Shop', type: 'heartbeat' })
  const mail = await create('/monitors', { name: 'Mail', type: 'heartbeat' })
  const config = { url: 'https://hooks.example.com/a' }
  const channel = await create('/alerts/channels', { name: 'Ops', type: 'webhook', config })
  const [kept, deleted] = await Promise.all([
    create('/alerts/rules', { monitor_id: mail, alert_channel_id: channel }),
    create('/alerts/rules', { monitor_id: shop, alert_channel_id: channel }),
  ])
  await api.call('PUT', `/alerts/rules/${deleted}`, { key, body: { on_degraded: true } })
  await api.call('DELETE', `/alerts/rules/${deleted}`, { key })
  await api.call('PUT', `/alerts/rules/${kept}`, { key, body: { on_degraded: true } })
  const read = async (query: string, from = key) =>
    (await api.call('GET', `/audit-log?${query}`, { key: from })).body.data.map(
      ({ action, resource, resource_id: id }: Record<string, string>) => [action, resource, id],
    )
  t.same(await read(`monitor_id=${shop}`), [
    ['deleted', 'alert_rule', deleted],
    ['updated', 'alert_rule', deleted],
    ['created', 'alert_rule', deleted],
    ['created', 'monitor', shop],
  ])
  t.same(await read(`monitor_id=${mail}&resource=alert_rule&action=updated`), [['updated', 'alert_rule', kept]])
  t.same(await read('monitor_id=unknown'), [])
  t.same(await read(`monitor_id=${shop}`, (await api.tenant()).key), [], 'not of another tenant')
})

t.test('GET /audit-log answers 200 with the creation of the organization as first entry', async t => {
  const made = await api.call('POST', '/agent/bootstrap', { key: null, body: { email: 'Ann@example.com' } })
  const { api_key: key, organization_id: resource_id, user_id: id } = made.body.data
  const { body } = await api.call('GET', '/audit-log', { key })
  t.match(body.data, [
    {
      ...{ action: 'created', resource: 'organization', resource_id },
      actor: { kind: 'user', id, name: 'ann@example.com', ip: '127.0.0.1' },
    },
  ])
})

t.test('GET /audit-log answers 200 with times in the format of the API', async t => {
  const { key } = await api.tenant()
  const { id } = (await api.call('POST', '/incidents', { key, body: { title: 'Shop is slow' } })).body.data
  const { acknowledged_at } = (await api.call('POST', `/incidents/${id}/acknowledge`, { key })).body.data
  const { body } = await api.call('GET', `/audit-log?resource_id=${id}&action=updated`, { key })
  t.same(body.data[0].changes.acknowledged_at, { from: null, to: acknowledged_at })
})

t.test('GET /audit-log contains no entries of another tenant', async t => {
  const { key } = await api.tenant()
  t.same((await api.call('GET', '/audit-log', { key })).body.data, [])
})

t.test('GET /audit-log answers 403 to keys below admin', async t => {
  const account = await api.tenant()
  for (const scope of ['read', 'write'] as const) {
    const key = await api.createKey(account, scope)
    t.equal((await api.call('GET', '/audit-log', { key })).status, 403)
  }
})

t.test('GET /audit-log contains no secret, whatever was created and changed', async t => {
  const { key } = account
  const { id } = (await api.call('POST', '/monitors', { key, body: MONITOR })).body.data
  const auth = { auth_type: 'bearer', auth_config: { token: 'hunter2-token' } }
  await api.call('PUT', `/monitors/${id}/auth`, { key, body: auth })
  const { text } = (
    await query<{ text: string }>(api.db, `SELECT string_agg(l::text, ' ') AS text FROM audit_log l`)
  )[0]!
  t.notMatch(text, /hunter2-token|a token of the shop|svc_[0-9A-Za-z]{20}|whsec_|\\x[0-9a-f]{16}/)
})

t.test('An update with unchanged values and masked secrets is not recorded as a change', async t => {
  const { key } = await api.tenant()
  const headers = { Authorization: 'Bearer abc' }
  const body = { name: 'Shop', type: 'http', url: 'https://shop.example.com/', headers }
  const made = await api.call('POST', '/monitors', { key, body })
  const again = { name: 'Shop', headers: made.body.data.headers }
  const before = await newest()
  t.equal((await api.call('PUT', `/monitors/${made.body.data.id}`, { key, body: again })).status, 200)
  t.same(await rowsAfter(before), [])
})
