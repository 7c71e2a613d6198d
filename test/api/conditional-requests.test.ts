import t from 'tap'
import { type Answer, shareApi } from '../support/api-server.ts'
import { CHANNEL, MONITOR } from '../support/bodies.ts'
import { type Operation, readOperations } from '../support/operations.ts'
import { buildAddress, createRecords, type Records } from '../support/records.ts'
import { runWhileLocked } from '../support/while-held.ts'

const api = await shareApi()
const mine = await api.tenant('business')
const { operations, document } = await readOperations(api)
const conditional = operations.filter(({ answers }) => '412' in answers)
const updates = conditional.filter(({ method }) => method === 'PUT')
const hasGet = ({ path }: Operation) => operations.some(({ name }) => name === `GET ${path}`)
const documented = ({ method, path }: Operation) => document.paths[`/api/v1${path}`][method.toLowerCase()]

/** A change of one setting, different for each `i`. */
function buildChange({ name }: Operation, i: number): Record<string, unknown> {
  if (name === 'PUT /monitors/{id}/auth') return { auth_type: 'bearer', auth_config: { token: `a token ${i}` } }
  if (name === 'PUT /alerts/rules/{id}') return { remind_every_minutes: 10 + i }
  if (name === 'PUT /dependencies/{id}') return { components: [`Part ${i}`] }
  return /^PUT .(incidents|maintenance-windows)/.test(name) ? { title: `Title ${i}` } : { name: `Name ${i}` }
}

const ifMatch = (tag: string) => ({ 'if-match': tag })
type Send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>
const sendWith =
  (key: string): Send =>
  (method, path, body, headers = {}) =>
    api.call(method, path, { key, headers, ...(body !== undefined && { body }) })
const send = sendWith(mine.key)
/** A project with one record of each kind. */
async function createScene(): Promise<{ records: Records; send: Send }> {
  const tenant = await api.tenant('business')
  return { records: await createRecords(api, tenant), send: sendWith(tenant.key) }
}
const getTag = ({ headers }: { headers: Headers }) => headers.get('etag') ?? 'none'
/** The address of the record: `/monitors/{id}/auth` is a part of the monitor. */
const toRecordAddress = (operation: Operation, address: string) =>
  hasGet(operation) ? address : address.replace('/auth', '')
const STALE = '"00000000000000000000000000000000"'

t.test('Records that are edited have an ETag, and PUT and DELETE of them document If-Match and 412', async t => {
  const expected = [
    ...['/monitors/{id}', '/alerts/channels/{id}', '/alerts/rules/{id}', '/maintenance-windows/{id}', '/views/{id}'],
    ...['/incidents/{id}', '/incident-templates/{id}', '/status-pages/{id}', '/status-pages/{id}/groups/{gid}'],
    ...['/status-pages/{id}/components/{cid}', '/dependencies/{id}', '/data-sources/{id}'],
  ].flatMap(path => [`DELETE ${path}`, `PUT ${path}`])
  t.same(conditional.map(({ name }) => name).sort(), [...expected, 'PUT /monitors/{id}/auth'].sort())
  for (const operation of conditional) {
    const { parameters = [], responses } = documented(operation)
    const names = parameters
      .filter((one: { in: string }) => one.in === 'header')
      .map((one: { name: string }) => one.name)
    t.same(names, ['If-Match'], operation.name)
    t.equal('ETag' in (responses['200'].headers ?? {}), operation.method === 'PUT', operation.name)
  }
})

t.test('A change of another version is 412 and changes nothing; of the version that was read, it is saved', async t => {
  const { records, send } = await createScene()
  for (const operation of updates) {
    const path = buildAddress(operation, records)
    const record = toRecordAddress(operation, path)
    const before = await send('GET', record)
    t.match(getTag(before), /^"[0-9a-f]{32}"$/, operation.name)
    t.equal(before.headers.get('cache-control'), 'no-store, no-transform')
    for (const tags of [STALE, `W/${getTag(before)}`, `${STALE}, "x"`]) {
      const refused = await send('PUT', path, buildChange(operation, 1), ifMatch(tags))
      t.match(refused, { status: 412, body: { error: { code: 'precondition_failed', status: 412 } } }, operation.name)
      t.equal(refused.headers.get('etag'), null)
    }
    t.same(await send('GET', record).then(({ body }) => body), before.body, operation.name)
    const saved = await send('PUT', path, buildChange(operation, 1), ifMatch(`${STALE}, ${getTag(before)}`))
    t.equal(saved.status, 200, `${operation.name}: ${JSON.stringify(saved.body.error)}`)
    t.not(getTag(saved), getTag(before), operation.name)
    t.equal(getTag(saved), getTag(await send('GET', record)), operation.name)
    t.equal((await send('PUT', path, buildChange(operation, 2), ifMatch(getTag(before)))).status, 412, operation.name)
    t.equal((await send('PUT', path, buildChange(operation, 2), ifMatch('*'))).status, 200, operation.name)
    t.equal((await send('PUT', path, buildChange(operation, 3))).status, 200, 'without a condition')
  }
})

t.test('Of many changes of one version at once, one is saved and the others are 412', async t => {
  const { records, send } = await createScene()
  for (const operation of updates) {
    const path = buildAddress(operation, records)
    const record = toRecordAddress(operation, path)
    const tag = getTag(await send('GET', record))
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => send('PUT', path, buildChange(operation, 10 + i), ifMatch(tag))),
    )
    const statuses = answers.map(({ status }) => status).sort()
    t.same(statuses, [200, ...Array(11).fill(412)], operation.name)
    const won = answers.find(({ status }) => status === 200)!
    t.equal(getTag(won), getTag(await send('GET', record)), `${operation.name}: nothing was changed after it`)
  }
})

async function createChannel(): Promise<{ id: string; path: string }> {
  const { id } = (await send('POST', '/alerts/channels', CHANNEL)).body.data
  return { id, path: `/alerts/channels/${id}` }
}

t.test('Changes of the settings of a channel with and without a version wait for each other', async t => {
  const { path } = await createChannel()
  const { config } = (await send('GET', path)).body.data
  const change = (i: number) => ({ name: `Name ${i}`, config })
  for (let round = 0; round < 6; round++) {
    const tag = getTag(await send('GET', path))
    const answers = await Promise.all(
      [1, 2, 3, 4].map(i => send('PUT', path, change(10 * round + i), i % 2 === 0 ? ifMatch(tag) : {})),
    )
    const statuses = answers.map(({ status }) => status)
    t.same([statuses[0], statuses[2]], [200, 200], 'without a version')
    t.ok(
      [statuses[1], statuses[3]].every(status => status === 200 || status === 412),
      `with one: ${statuses}`,
    )
  }
})

t.test('DELETE of a version waits for a delivery that has begun, and neither ends the other', async t => {
  const { id, path } = await createChannel()
  const tag = getTag(await send('GET', path))
  const removed = await runWhileLocked(
    api.db,
    tx => tx.raw('SELECT FROM alert_channels WHERE id = ? FOR KEY SHARE', [id]),
    () => send('DELETE', path, undefined, ifMatch(tag)),
    tx => tx.raw('UPDATE alert_channels SET consecutive_failures = 1 WHERE id = ?', [id]),
  )
  t.equal(removed.status, 200)
})

t.test('A channel that is paused after failures has the same version', async t => {
  const { id, path } = await createChannel()
  const before = getTag(await send('GET', path))
  const paused = { is_paused: true, paused_at: new Date(), paused_reason: '50 in a row failed' }
  await api.db('alert_channels').where({ id }).update(paused)
  t.equal(getTag(await send('GET', path)), before)
})

t.test('DELETE of another version is 412, and of the version that was read it deletes', async t => {
  const { records, send } = await createScene()
  // what is deleted with another record comes before it
  const rank = ({ path }: Operation) => (path.startsWith('/alerts/rules') ? 1_000 : path.length)
  const removals = conditional.filter(({ method }) => method === 'DELETE').sort((a, b) => rank(b) - rank(a))
  for (const operation of removals) {
    const path = buildAddress(operation, records)
    const read = await send('GET', path)
    t.equal((await send('DELETE', path, undefined, ifMatch(STALE))).status, 412, operation.name)
    t.equal((await send('GET', path)).status, 200, operation.name)
    const removed = await send('DELETE', path, undefined, ifMatch(getTag(read)))
    t.match(removed, { status: 200, body: { data: { deleted: true } } }, operation.name)
    t.equal((await send('DELETE', path, undefined, ifMatch(getTag(read)))).status, 404, operation.name)
  }
})

t.test('A create answers with the tag of the record', async t => {
  const { records, send } = await createScene()
  const bodies: Record<string, object> = {
    '/monitors': MONITOR,
    '/views': { name: 'Created', query: 'is:down' },
    '/incidents': { title: 'Created', monitor_ids: [records.monitor_id] },
    [`/status-pages/${records.page_id}/groups`]: { name: 'Created' },
  }
  for (const [path, body] of Object.entries(bodies)) {
    const made = await send('POST', path, body)
    t.match(getTag(made), /^"[0-9a-f]{32}"$/, path)
    t.equal(getTag(made), getTag(await send('GET', `${path}/${made.body.data.id}`)), path)
  }
})

t.test('The tag of a monitor names its settings: another secret is another version, another status is not', async t => {
  const { id } = (await send('POST', '/monitors', MONITOR)).body.data
  const path = `/monitors/${id}`
  const read = async () => getTag(await send('GET', path))
  const before = await read()
  await api
    .db('monitors')
    .where({ id })
    .update({ status: 'down', status_changed_at: new Date(), ssl_expires_at: new Date() })
  t.equal(await read(), before, 'a status')
  const auth = (token: string) => ({ auth_type: 'bearer', auth_config: { token } })
  await send('PUT', `${path}/auth`, auth('another token'))
  const changed = await read()
  t.not(changed, before, 'a secret')
  await send('PUT', `${path}/auth`, auth('another token'))
  t.equal(await read(), changed, 'the same secret again')
  await send('POST', `${path}/pause`)
  t.not(await read(), changed, 'a pause')
})

t.test('A malformed If-Match, and If-Match on a route without versions, are 400', async t => {
  const { id } = (await send('POST', '/monitors', MONITOR)).body.data
  for (const value of ['', 'abc', `${STALE} ${STALE}`, `*, ${STALE}`, '"a', "'a'"]) {
    const { status, body } = await send('PUT', `/monitors/${id}`, { name: 'x' }, ifMatch(value))
    const details = [{ path: 'If-Match', message: /^If-Match must be \* or tags in double quotes/ }]
    t.match({ status, body }, { status: 400, body: { error: { details } } }, value)
  }
  for (const [method, path] of [
    ['PUT', '/alerts/settings'],
    ['POST', '/monitors'],
    ['POST', `/monitors/${id}/pause`],
  ] as const) {
    const { status, body } = await send(method, path, method === 'PUT' ? {} : undefined, ifMatch('*'))
    t.equal(status, 400, path)
    if (path !== '/monitors')
      t.match(body.error.message, `${method} /api/v1${path.replace(id, ':id')} does not accept If-Match`)
  }
  t.equal((await send('GET', `/monitors/${id}`, undefined, ifMatch(STALE))).status, 200, 'a read ignores it')
})

t.test('A record of another project, and one that does not exist, are 404 with every If-Match', async t => {
  const records = await createRecords(api, await api.tenant('business'))
  for (const operation of conditional) {
    const body = operation.method === 'PUT' ? buildChange(operation, 1) : undefined
    for (const tag of [STALE, '*']) {
      const { status, headers } = await send(operation.method, buildAddress(operation, records), body, ifMatch(tag))
      t.same([status, headers.get('etag')], [404, null], `${operation.name} ${tag}`)
    }
  }
  t.equal((await send('PUT', '/monitors/nothing', { name: 'x' }, ifMatch(STALE))).status, 404)
})
