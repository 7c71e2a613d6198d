import { gzipSync } from 'node:zlib'
import t from 'tap'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createDatabase } from '../support/database.ts'
import { flood } from '../support/hostile-targets.ts'
import { startPicket } from '../support/picket.ts'
import { startRawServer } from '../support/raw-server.ts'
import { startReceiver } from '../support/receiver.ts'
import { type Behaviour, startTarget } from '../support/target.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'
import { waitFor } from '../support/wait.ts'

// takes about 25 s

const { url: databaseUrl } = await createDatabase(t)
const relay = await startTcpRelay(t, databaseUrl)
const picket = await startPicket(t, { regions: [], env: { DATABASE_URL: relay.url } })
const [target, receiver] = await Promise.all([startTarget(t), startReceiver(t)])
const db = createPostgres(databaseUrl, 2)
t.teardown(() => db.destroy())
const { api } = picket
const channel = await api.post('/alerts/channels', {
  name: 'Ops',
  type: 'webhook',
  config: { url: receiver.url },
  is_default: true,
})
await api.post('/alerts/project-channels', { alert_channel_id: channel.body.data.id, alert_type: 'incident' })

const FIELD = { path: 'cells.*', name_template: 'Cell {{key}}', rule_type: 'equals', rule_config: { value: 'ok' } }
const cells = (values: Record<string, string>): Behaviour => ({
  kind: 'answer',
  body: JSON.stringify({ cells: values }),
})

/** Creates a source for a path of the target, or of another server, with functions to read it and its monitors. */
async function createSource(place: string, given: object = {}) {
  const url = new URL(place, target.url).href
  const answer = await api.post('/data-sources', { name: place, url, fields: [FIELD], timeout_ms: 20_000, ...given })
  if (answer.status !== 201)
    throw new Error(`creating a source returned ${answer.status}: ${JSON.stringify(answer.body)}`)
  const { id } = answer.body.data
  const read = async () => (await api.get(`/data-sources/${id}`)).body.data
  const statuses = async () => {
    const children: { key: string; status: string | null }[] = (await read()).fields[0].child_monitors
    return children.map(({ key, status }) => `${key} ${status}`).join(', ')
  }
  return {
    id,
    read,
    refresh: () => api.post(`/data-sources/${id}/refresh`),
    becomes: (wanted: string) =>
      waitFor(async () => (await statuses()) === wanted, { label: `"${wanted}" of ${place}` }),
    monitor: async (key: string) => {
      const { body } = await api.get('/monitors?per_page=100')
      return body.data.find((found: { data_source: object }) => {
        const origin = found.data_source as { id: string; key: string } | null
        return origin?.id === id && origin?.key === key
      })
    },
  }
}

t.test('A value that goes down and up again has incidents, alerts, history and a page like any monitor', async t => {
  target.behaveAt('/shop', cells({ a: 'ok', b: 'ok' }))
  const source = await createSource('/shop')
  await source.becomes('a up, b up')
  target.behaveAt('/shop', cells({ a: 'ok', b: 'broken' }))
  await source.refresh()
  const isOfMonitor = ({ json }: { json: { event: string } }) => json.event.startsWith('monitor.')
  const [down] = await receiver.waitFor(1, { match: isOfMonitor })
  const monitor = await source.monitor('b')
  t.match(down!.json, {
    event: 'monitor.down',
    data: {
      monitor: { id: monitor.id, name: 'Cell b', type: 'http', status: 'down' },
      check: { region: 'data-source' },
    },
  })
  t.match(down!.json.data.check.error, /broken/)
  t.match(down!.headers['x-service-signature'], /^sha256=[0-9a-f]{64}$/)
  t.match(monitor, { status: 'down', data_source: { name: '/shop', key: 'b' }, configuration_issues: [] })

  const page = (await api.post('/status-pages', { name: 'Shop', slug: 'shop' })).body.data
  const field_ids = [(await source.read()).fields[0].id]
  await api.post(`/data-sources/${source.id}/publish`, { status_page_id: page.id, field_ids })
  const shown = (await api.get(`/status-pages/${page.id}/components`)).body.data
  t.same(shown.map(({ name, status }: { name: string; status: string }) => `${name} ${status}`).sort(), [
    'Cell a operational',
    'Cell b outage',
  ])

  target.behaveAt('/shop', cells({ a: 'ok', b: 'ok' }))
  await source.refresh()
  const [, up] = await receiver.waitFor(2, { match: isOfMonitor })
  t.match(up!.json, { event: 'monitor.up', data: { monitor: { id: monitor.id }, down_duration: String } })
  const incidents = (await api.get('/incidents')).body.data
  t.match(incidents, [{ title: 'Cell b is down', status: 'resolved', source: 'automatic' }])
  const transitions = (await api.get(`/monitors/${monitor.id}/transitions`)).body.data
  t.match(transitions[1], { to: 'down', explanation: { data_source: { key: 'b', rule: 'equals' } } })
  // the schedule may have fetched the document too, so the history can have more checks than the refreshes made
  const readStatuses = async () => {
    const { data } = (await api.get(`/monitors/${monitor.id}/checks`)).body as { data: { status: string }[] }
    return data.filter(({ status }, i) => status !== data[i + 1]?.status)
  }
  await waitFor(async () => (await readStatuses()).length === 3, { label: 'the history' })
  const [last, failed, first] = await readStatuses()
  t.match([last, first], [{ status: 'up' }, { status: 'up' }])
  t.match(failed, {
    status: 'down',
    region: 'data-source',
    probe_id: null,
    error: { source: 'target', code: 'rule' },
  })
})

t.test('A source reports when its document has more keys than monitors are allowed', async t => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'ok']))
  target.behaveAt('/many', cells(many(250)))
  const source = await createSource('/many')
  const truncated = (count: number | null) =>
    waitFor(async () => ((await source.read()).truncated?.keys ?? null) === count, { label: `${count} keys` })
  await truncated(250)
  t.match(await source.read(), {
    truncated: { keys: 250, monitors: 200 },
    problem:
      'the document has 250 keys; only 200 have a monitor: those that had one, and then the first in the order of fields and keys',
    child_monitor_count: 200,
    last_error: null,
  })
  const listKeys = async () => (await source.read()).fields[0].child_monitors.map(({ key }: { key: string }) => key)
  const before = await listKeys()
  target.behaveAt('/many', cells({ 'a-new-key': 'ok', ...many(260), [before.at(-1)]: 'bad' }))
  await source.refresh()
  await truncated(261)
  t.same(await listKeys(), before, 'a key that comes before them takes the place of no monitor')
  t.equal((await source.read()).fields[0].child_monitors.at(-1).status, 'down', 'and they are still evaluated')
  target.behaveAt('/many', cells(many(3)))
  await source.refresh()
  await truncated(null)
  t.match(await source.read(), { truncated: null, problem: null })
})

const REFUSALS =
  'PUT /monitors/{id} 409, PUT /monitors/{id}/auth 409, DELETE /monitors/{id} 409, POST /monitors/{id}/check 409'
t.test(`Changes of a monitor of a data source are refused: ${REFUSALS}`, async t => {
  target.behaveAt('/fixed', cells({ a: 'ok' }))
  const source = await createSource('/fixed')
  await source.becomes('a up')
  const { id } = await source.monitor('a')
  t.equal((await api.put(`/monitors/${id}`, { url: 'https://example.com' })).status, 409)
  t.equal((await api.put(`/monitors/${id}/auth`, { auth_type: null, auth_config: null })).status, 409)
  t.equal((await api.delete(`/monitors/${id}`)).status, 409)
  t.equal((await api.post(`/monitors/${id}/check`)).status, 409)
  t.match((await api.put(`/monitors/${id}`, { name: 'Mine', tags: ['x'] })).body.data, { name: 'Mine', tags: ['x'] })
  t.match((await api.post(`/monitors/${id}/pause`)).body.data, { is_paused: true, status: null })
  t.match((await api.post(`/monitors/${id}/resume`)).body.data, { is_paused: false, status: null })
  await source.becomes('a up')
  t.equal((await source.monitor('a')).name, 'Mine')
})

t.test('A failed fetch makes monitors unknown, and the third failure opens an incident', async t => {
  target.behaveAt('/page', cells({ a: 'broken' }))
  const source = await createSource('/page')
  await source.becomes('a down')
  target.behaveAt('/page', { kind: 'answer', body: '<!doctype html><p>Maintenance' })
  for (const count of [1, 2, 3]) {
    await source.refresh()
    await waitFor(async () => (await source.read()).consecutive_failures >= count)
  }
  t.match(await source.read(), { last_error: 'the response is not JSON: it is an HTML page' })
  await source.becomes('a null')
  const isOfSource = ({ json }: { json: { data: { incident?: { title: string } } } }) =>
    json.data.incident?.title === 'Data source /page cannot be fetched'
  const [created] = await receiver.waitFor(1, { match: isOfSource })
  t.match(created!.json, { event: 'incident.created', data: { incident: { severity: 'minor' } } })
  target.behaveAt('/page', cells({ a: 'broken' }))
  await source.refresh()
  const [, resolved] = await receiver.waitFor(2, { match: isOfSource })
  t.equal(resolved!.json.event, 'incident.resolved')
  await source.becomes('a down')
  const downs = receiver.received.filter(
    ({ json }) => json.event === 'monitor.down' && json.data.monitor.url.endsWith('/page'),
  )
  t.equal(downs.length, 1, 'the continuing outage is not announced again')
})

t.test('Hostile sources get an error and do not affect other sources', async t => {
  // in parts: this process also relays the connection to PostgreSQL and must not block for seconds
  const part = gzipSync(Buffer.alloc(16 * 1024 * 1024, ' '))
  const packed = Buffer.concat(Array.from({ length: 32 }, () => part))
  const endless = `http://127.0.0.1:${await startRawServer(t, flood)}/`
  const rows: [place: string, behaviour: Behaviour | null, error: RegExp][] = [
    ['/large', { kind: 'big', bytes: 5 * 1024 * 1024 + 1 }, /larger than 5 MiB/],
    ['/bomb', { kind: 'answer', body: packed, headers: { 'content-encoding': 'gzip' } }, /larger than 5 MiB/],
    ['/inwards', { kind: 'redirect', to: 'http://169.254.169.254/latest/meta-data' }, /cannot be a target/],
    ['/silent', { kind: 'hang', after: 'connect' }, /timed out/],
    ['/deep', { kind: 'answer', body: '['.repeat(10_000) + ']'.repeat(10_000) }, /nested deeper than 500 levels/],
    [endless, null, /larger than 5 MiB|timed out/],
  ]
  target.behaveAt('/good', cells({ a: 'ok' }))
  const sources = []
  for (const [place, behaviour, error] of rows) {
    if (behaviour) target.behaveAt(place, behaviour)
    // a busy machine may need seconds for the other sources
    const given = place === '/silent' ? { timeout_ms: 2_000 } : {}
    sources.push({ place, error, source: await createSource(place, given) })
  }
  const good = await createSource('/good')
  await good.becomes('a up')
  for (const { place, error, source } of sources) {
    const read = await waitFor(async () => (await source.read()).last_error, { label: place })
    t.match(read, error, place)
  }
})

t.test('A document with new keys each time leaves at most 200 monitors', async t => {
  const shape = (turn: number) =>
    cells(Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`${turn}-${i}`, 'ok'])))
  target.behaveAt('/shapes', shape(0))
  const source = await createSource('/shapes')
  for (const turn of [1, 2, 3]) {
    await waitFor(async () => (await source.read()).child_monitor_count >= Math.min(200, 120 * turn))
    target.behaveAt('/shapes', shape(turn))
    const before = (await source.read()).last_fetched_at
    await source.refresh()
    await waitFor(async () => (await source.read()).last_fetched_at !== before)
  }
  t.equal((await source.read()).child_monitor_count, 200)
  await api.delete(`/data-sources/${source.id}`)
})

t.test('An outage of PostgreSQL changes no status, and fetching continues after it', async t => {
  target.behaveAt('/steady', cells({ a: 'ok' }))
  const source = await createSource('/steady')
  await source.becomes('a up')
  await relay.cut()
  target.behaveAt('/steady', cells({ a: 'broken' }))
  const failures = () => picket.controlPlane.lines.filter(({ loop }) => loop === 'data-sources').length
  await waitFor(() => failures() >= 2, { label: 'repeated failures of the worker' })
  await relay.restore()
  await waitFor(async () => (await source.refresh()).status === 200)
  await source.becomes('a down')
  t.match(await source.read(), { consecutive_failures: 0, last_error: null })
})

t.test('Two processes share 100 sources and fetch each once, also when one is killed', async t => {
  const second = await picket.addControlPlane()
  const url = `${target.url}shared`
  const ids = Array.from({ length: 100 }, (_, i) => i)
  for (const i of ids) target.behaveAt(`/shared/${i}`, { ...cells({ a: 'ok' }), delayMs: 50 } as Behaviour)
  await execute(db, "UPDATE data_sources SET next_fetch_at = now() + interval '1 hour'")
  const countsFrom = (from: number) => {
    const counts = new Map<string, number>()
    const shared = target.requests.slice(from).filter(({ path }) => path.startsWith('/shared/'))
    for (const { path } of shared) counts.set(path, (counts.get(path) ?? 0) + 1)
    return counts
  }
  /** Makes all of them due now, and only once. */
  const round = (name: string) =>
    execute(db, `UPDATE data_sources SET next_fetch_at = now(), fetch_interval_s = 86400 WHERE name LIKE :name`, {
      name,
    })
  const [{ projectId }] = (await query<{ projectId: string }>(
    db,
    'SELECT project_id AS "projectId" FROM data_sources LIMIT 1',
  )) as [{ projectId: string }]
  await execute(
    db,
    `INSERT INTO data_sources (id, project_id, name, url, method, fetch_interval_s, timeout_ms, next_fetch_at, created_at,
       updated_at)
     SELECT gen_random_uuid(), :projectId, 'shared', :url || '/' || n, 'GET', 86400, 20000, now() + interval '1 hour',
       now(), now() FROM generate_series(0, 99) n`,
    { projectId, url },
  )
  const from = target.requests.length
  await round('shared')
  await query(db, "SELECT pg_notify('data_sources', '')")
  await waitFor(() => countsFrom(from).size === 100)
  t.same(
    [...countsFrom(from).values()].filter(count => count !== 1),
    [],
    'each once',
  )

  for (const i of ids) target.behaveAt(`/shared/${i}`, { ...cells({ a: 'ok' }), delayMs: 300 } as Behaviour)
  const again = target.requests.length
  await round('shared')
  await query(db, "SELECT pg_notify('data_sources', '')")
  await waitFor(() => countsFrom(again).size > 8)
  await second.kill9()
  // release the sources of the killed process as after its lease
  await execute(
    db,
    "UPDATE data_sources SET lease_until = now() WHERE name = 'shared' AND lease_until < now() + interval '1 hour'",
  )
  await waitFor(() => countsFrom(again).size === 100, { label: 'all of them' })
  await waitFor(
    async () =>
      (await query(db, "SELECT FROM data_sources WHERE name = 'shared' AND lease_owner IS NOT NULL")).length === 0,
    { label: 'the end of all fetches' },
  )
})
