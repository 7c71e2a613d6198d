import t from 'tap'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createPicket } from '../../deploy/client/index.ts'
import { startApi } from '../support/api-server.ts'
import { applyBoard, insertWatchedMonitors } from '../support/board.ts'
import { CHANNEL, WINDOW } from '../support/bodies.ts'
import { insertProbe } from '../support/canaries.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { createDatabase } from '../support/database.ts'
import { type EventReader, openEvents } from '../support/event-stream.ts'
import { startNats } from '../support/nats.ts'
import { waitFor } from '../support/wait.ts'

// takes about 40 s

const env = {
  DATABASE_URL: (await createDatabase(t)).url,
  CLICKHOUSE_URL: (await createClickhouseDatabase(t)).url,
  NATS_URL: (await startNats(t)).url,
  SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  RATE_LIMIT_PER_MINUTE: '1000000',
}
const [api, other] = [await startApi(t, env), await startApi(t, env)]
const { db } = api
const open = async (
  key: string | null,
  options: { headers?: Record<string, string>; query?: string; from?: typeof api } = {},
) => openEvents(t, (options.from ?? api).origin, { ...options, key })

/** The rows that a client has after all events so far. */
function rowsAfter(...streams: EventReader[]) {
  const rows = new Map()
  for (const { event, data } of streams.flatMap(({ events }) => events))
    if (event === 'board' && data.changes) applyBoard(rows, data.changes)
  return rows
}

/** A stream without changes; its heartbeats take half a minute. */
async function openQuietStream() {
  const { key } = await api.tenant()
  const stream = await open(key)
  await stream.until('ready')
  return { stream, position: stream.lastId }
}

/** Streams of a key that is deleted, of one that is suspended and of another one. The first two end when the keys are checked. */
async function openStreamsOfRevokedKeys() {
  const { key } = await api.tenant()
  const make = async (name: string) =>
    (await api.call('POST', '/api-keys', { key, body: { name, scope: 'read' } })).body.data
  const [deleted, suspended, kept] = [await make('deleted'), await make('suspended'), await make('kept')]
  const streams = await Promise.all([deleted, suspended, kept].map(one => open(one.key)))
  await Promise.all(streams.map(stream => stream.until('ready')))
  await other.call('DELETE', `/api-keys/${deleted.id}`, { key })
  await execute(db, 'UPDATE api_keys SET suspended_at = now() WHERE id = ?', [suspended.id])
  return { streams, deletedKey: deleted.key as string }
}

// what they wait for happens during the other tests
const [quiet, revoked] = [await openQuietStream(), await openStreamsOfRevokedKeys()]

t.test('GET /events 200 begins with ready, and a change arrives at the streams of each process', async t => {
  const { key, projectId } = await api.tenant()
  const [id] = (await insertWatchedMonitors(db, projectId, 3)) as [string]
  const streams = [await open(key), await open(key, { from: other })]
  for (const stream of streams) {
    t.same((await stream.until('ready')).data, { resumed: false })
    const { event, data } = stream.events[0]!
    t.equal(event, 'server', 'the program comes first, so that a page notices another one')
    t.match(data, { build: /./ })
  }
  await api.call('PUT', `/monitors/${id}`, { key, body: { name: 'Renamed' } })
  for (const stream of streams) {
    const { data } = await stream.until('board')
    t.same(data.changes.monitors.name, ['Renamed'])
    t.same(data.changes.monitors.id, [id], 'with the changed monitor only')
    t.equal(data.changes.reset, false)
  }
  const board = (await api.call('GET', '/monitors/board', { key })).body.data
  t.same(rowsAfter(streams[0]!).get(id), applyBoard(new Map(), board).get(id))
  await api.call('DELETE', `/monitors/${id}`, { key })
  for (const stream of streams) await stream.until('board', ({ data }) => data.changes.removed.includes(id))
})

t.test('Incidents, channels, deliveries and maintenance windows are events with their ids', async t => {
  const { key } = await api.tenant()
  const picket = api.picket(key)
  const monitor = await picket.createMonitor({ body: { name: 'Shop', type: 'http', url: 'https://shop.example/' } })
  const monitor_ids = [monitor.data!.data.id]
  const stream = await open(key)
  await stream.until('ready')
  const untilId = (event: string, id: string) => stream.until(event, ({ data }) => data.ids.includes(id))
  const incident = (await picket.createIncident({ body: { title: 'Slow', monitor_ids } })).data!.data
  await untilId('incident', incident.id)
  const before = stream.events.length
  const update = { path: { id: incident.id }, body: { message: 'We look at it', status: 'identified' } as const }
  await picket.createIncidentUpdate(update)
  await waitFor(() => stream.events.slice(before).some(({ event }) => event === 'incident'))
  const channel = (await picket.createAlertChannel({ body: CHANNEL })).data!.data
  await untilId('channel', channel.id)
  const delivery = (await picket.testAlertChannel({ path: { id: channel.id } })).data!.data
  await untilId('delivery', delivery.id)
  const window = (await picket.createMaintenanceWindow({ body: { ...WINDOW, monitor_ids } })).data!.data
  t.ok(await untilId('maintenance', window.id))
})

t.test('A stream has no events of another project', async t => {
  const [mine, foreign] = [await api.tenant(), await api.tenant()]
  const [own] = (await insertWatchedMonitors(db, mine.projectId, 1)) as [string]
  const [strange] = (await insertWatchedMonitors(db, foreign.projectId, 1)) as [string]
  const [stream, theirs] = [await open(mine.key), await open(foreign.key)]
  await Promise.all([stream.until('ready'), theirs.until('ready')])
  await api.call('PUT', `/monitors/${strange}`, { key: foreign.key, body: { name: 'Secret' } })
  await api.call('POST', '/alerts/channels', { key: foreign.key, body: CHANNEL })
  await theirs.until('channel')
  await api.call('PUT', `/monitors/${own}`, { key: mine.key, body: { name: 'Mine' } })
  await stream.until('board')
  t.same(
    stream.events.map(({ event }) => event),
    ['server', 'ready', 'board'],
  )
  t.same([...rowsAfter(stream).keys()], [own])
})

t.test('A stream with Last-Event-ID or the revision of a board has no gap, also at another process', async t => {
  const { key, projectId } = await api.tenant()
  const ids = await insertWatchedMonitors(db, projectId, 12)
  const board = (await api.call('GET', '/monitors/board', { key })).body.data
  const rename = (n: number) => execute(db, 'UPDATE monitors SET name = ? WHERE id = ?', [`Name ${n}`, ids[n]!])
  await rename(0)
  const first = await open(key, { query: `?since=${board.revision}` })
  t.same((await first.until('ready')).data, { resumed: true })
  await first.until('board', () => rowsAfter(first).has(ids[0]!))
  await rename(1)
  await first.until('board', () => rowsAfter(first).has(ids[1]!))
  first.close()
  for (const n of [2, 3, 4]) await rename(n)
  const opening = open(key, { from: other, headers: { 'last-event-id': first.lastId } })
  for (const n of [5, 6, 7]) await rename(n)
  const second = await opening
  for (const n of [8, 9, 10]) await rename(n)
  await second.until('board', () => [2, 3, 4, 5, 6, 7, 8, 9, 10].every(n => rowsAfter(second).has(ids[n]!)))
  t.same((await second.until('ready')).data, { resumed: true })
  t.equal(rowsAfter(second).has(ids[0]!), false, 'what the first stream had is not sent again')
  for (const n of [1, 5, 10]) t.equal(rowsAfter(first, second).get(ids[n]!).name, `Name ${n}`)
})

t.test('A stream that cannot continue after Last-Event-ID says reset, and goes on from now', async t => {
  const { key, projectId } = await api.tenant()
  const [id] = await insertWatchedMonitors(db, projectId, 1)
  const { revision } = (await api.call('GET', '/monitors/board', { key })).body.data
  const another = (await api.call('GET', '/monitors/board', { key: (await api.tenant()).key })).body.data
  const [seconds, xmin, ...rest] = revision.split('.')
  const old = [Math.floor(Date.now() / 1_000 - 3_600).toString(36), xmin, ...rest].join('.')
  const future = [seconds, (Number.parseInt(xmin, 36) + 1_000_000).toString(36), ...rest].join('.')
  for (const [last, reason] of [
    ['nonsense', 'unknown_position'],
    [old, 'position_too_old'],
    [future, 'unknown_position'],
    [another.revision, 'unknown_position'],
  ]) {
    const stream = await open(key, { headers: { 'last-event-id': last! } })
    t.same((await stream.until('reset')).data, { reason })
    await execute(db, 'UPDATE monitors SET name = ? WHERE id = ?', [`After ${last}`, id!])
    await stream.until('board', ({ data }) => data.changes.monitors.name[0] === `After ${last}`)
    stream.close()
  }
})

t.test('GET /events 401, 400 and 429', async t => {
  const { key } = await api.tenant()
  t.equal((await open(null)).status, 401)
  t.equal((await open('svc_wrong')).status, 401)
  t.equal((await open(key, { query: '?since_id=1' })).status, 400)
  t.same([(await api.call('HEAD', '/events', { key })).status], [200])
  const streams = []
  for (let i = 0; i < 10; i++) streams.push(await open(key))
  t.same(new Set(streams.map(({ status }) => status)), new Set([200]))
  const refused = await api.call('GET', '/events', { key })
  t.match(refused.body.error, { code: 'rate_limited', message: /10 open event streams/ })
  t.equal(refused.status, 429)
  streams[0]!.close()
  await waitFor(async () => (await open(key)).status === 200, { label: 'a free place' })
})

t.test('Many changes in a second are few events', async t => {
  const { key, projectId } = await api.tenant()
  const ids = await insertWatchedMonitors(db, projectId, 150)
  const stream = await open(key)
  await stream.until('ready')
  const startedMs = performance.now()
  for (const [n, id] of ids.entries()) await execute(db, 'UPDATE monitors SET name = ? WHERE id = ?', [`Name ${n}`, id])
  await stream.until('board', () => rowsAfter(stream).size === ids.length)
  const seconds = (performance.now() - startedMs) / 1_000
  const count = stream.events.filter(({ event }) => event === 'board').length
  t.ok(count <= 2 + 4 * seconds, `${count} events in ${seconds} s`)
  await execute(db, `UPDATE monitors SET name = 'all'`)
  const many = (await insertWatchedMonitors(db, projectId, 300)).length
  t.equal((await stream.until('board', ({ data }) => data.changes === null)).data.changes, null, `${many} are a hint`)
})

t.test('Open streams do not take the turns of a project', async t => {
  const { key } = await api.tenant()
  const streams = await Promise.all(Array.from({ length: 9 }, () => open(key)))
  await Promise.all(streams.map(stream => stream.until('ready')))
  t.equal((await api.call('GET', '/monitors', { key })).status, 200)
})

t.test('A heartbeat moves the position of a quiet stream', async t => {
  const { stream, position } = quiet
  await waitFor(() => stream.heartbeats >= 2)
  t.same(
    stream.events.map(({ event }) => event),
    ['server', 'ready'],
    'without another event',
  )
  t.not(stream.lastId, position)
})

t.test('A stream ends when its key is deleted or suspended', async t => {
  const { streams, deletedKey } = revoked
  t.same([await streams[0]!.untilEnd(), await streams[1]!.untilEnd()], ['complete', 'complete'])
  t.equal(streams[2]!.ended, null)
  t.equal((await open(deletedKey)).status, 401)
})

t.test('A region that gets its first probe is a hint to read the board', async t => {
  const { key } = await api.tenant()
  const stream = await open(key)
  await stream.until('ready')
  const read = async () => (await api.call('GET', '/monitors/board', { key })).body.data.regions_without_probe
  t.ok((await read()).includes('us-east'))
  await insertProbe(db, 'us-east')
  await execute(
    db,
    `INSERT INTO region_epochs (region, epoch, probe_ids, updated_at)
     SELECT region, 1, ARRAY[id], now() FROM probes WHERE region = 'us-east'`,
  )
  t.equal((await stream.until('board')).data.changes, null)
  t.notOk((await read()).includes('us-east'))
  const quiet = await open(key, { headers: { 'last-event-id': stream.lastId } })
  stream.close()
  await quiet.until('ready')
  quiet.close()
  await execute(db, `DELETE FROM region_epochs WHERE region = 'us-east'`)
  await waitFor(async () => (await read()).includes('us-east'), { label: 'a region without a probe' })
  const resumed = await open(key, { from: other, headers: { 'last-event-id': quiet.lastId } })
  t.same((await resumed.until('ready')).data, { resumed: true })
  t.equal((await resumed.until('board')).data.changes, null, 'also for a stream that was away meanwhile')
  t.same(
    quiet.events.map(({ event }) => event),
    ['server', 'ready'],
    'no hint without a change',
  )
})

t.test('The typed client reads the stream', async t => {
  const { key } = await api.tenant()
  const aborting = new AbortController()
  const { stream } = await createPicket({ origin: api.origin, apiKey: key }).streamEvents({ signal: aborting.signal })
  t.match((await stream.next()).value, { build: /./ })
  t.same((await stream.next()).value, { resumed: false })
  const { id } = (await api.call('POST', '/alerts/channels', { key, body: CHANNEL })).body.data
  t.same((await stream.next()).value, { ids: [id] })
  aborting.abort()
  t.equal((await stream.next()).done, true)
})
