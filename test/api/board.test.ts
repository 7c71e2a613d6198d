import t from 'tap'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { applyBoard, insertStates, insertWatchedMonitors } from '../support/board.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { createDatabase } from '../support/database.ts'
import { startNats } from '../support/nats.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const env = {
  DATABASE_URL: (await createDatabase(t)).url,
  CLICKHOUSE_URL: (await createClickhouseDatabase(t)).url,
  NATS_URL: (await startNats(t)).url,
  SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  RATE_LIMIT_PER_MINUTE: '1000000',
}
const [api, other] = [await startApi(t, env), await startApi(t, env)]
const { db } = api
const MONITOR = { name: 'Shop', type: 'http', url: 'https://shop.example/', regions: ['us-east', 'eu-west'] }

t.test('GET /monitors/board 200 has one column for each field, with votes and causes', async t => {
  const { key } = await api.tenant()
  const picket = api.picket(key)
  const empty = (await picket.readMonitorBoard()).data!.data
  t.same([empty.reset, empty.monitors.id, empty.removed], [true, [], []])
  const made = await api.call('POST', '/monitors', { key, body: { ...MONITOR, tags: ['prod'] } })
  const { id } = made.body.data
  const read = async () => applyBoard(new Map(), (await picket.readMonitorBoard()).data!.data).get(id)
  const settings = {
    name: 'Shop',
    type: 'http',
    is_paused: false,
    tags: ['prod'],
    issue: null,
    parents: [],
    silenced_until: null,
  }
  const fresh = { ...settings, status: null, status_changed_at: null }
  t.same(await read(), { ...fresh, votes: { 'us-east': 'none', 'eu-west': 'none' }, cause: null })
  const at = new Date('2026-03-01T10:00:00.000Z')
  await execute(db, `UPDATE monitors SET status = 'down', status_changed_at = ? WHERE id = ?`, [at, id])
  await insertStates(db, [id], `CASE region WHEN 'us-east' THEN 'failing' ELSE 'pending' END`)
  t.same(await read(), {
    ...{ ...fresh, status: 'down', status_changed_at: at.toISOString() },
    ...{ votes: { 'us-east': 'failing', 'eu-west': 'none' }, cause: 'connection refused' },
  })
  await api.call('POST', `/monitors/${id}/pause`, { key })
  t.match(await read(), { is_paused: true, status: null, votes: { 'us-east': 'none', 'eu-west': 'none' }, cause: null })
})

t.test('GET /monitors/board 200 says which settings do not allow a check, as the monitor does', async t => {
  const { key } = await api.tenant()
  const picket = api.picket(key)
  const made = await api.call('POST', '/monitors', { key, body: { ...MONITOR, type: 'keyword' } })
  const { id, configuration_issues: issues } = made.body.data
  const read = async () => applyBoard(new Map(), (await picket.readMonitorBoard()).data!.data).get(id)
  const issue = 'keyword is required to check a keyword monitor'
  t.ok(issues.includes(issue))
  t.match(await read(), { issue })
  await api.call('PUT', `/monitors/${id}`, { key, body: { keyword: 'open' } })
  t.match(await read(), { issue: null })
})

t.test('GET /monitors/board with since returns what changed and what was removed, from each process', async t => {
  const { key, projectId } = await api.tenant()
  const ids = await insertWatchedMonitors(db, projectId, 20)
  const read = async (from: typeof api, since?: string) =>
    (await from.call('GET', `/monitors/board${since === undefined ? '' : `?since=${since}`}`, { key })).body.data
  const first = await read(api)
  t.equal(first.monitors.id.length, 20)
  const unchanged = await read(other, first.revision)
  t.same([unchanged.reset, unchanged.monitors.id, unchanged.removed], [false, [], []])
  const [renamed, removed, silent] = ids as [string, string, string]
  await api.call('PUT', `/monitors/${renamed}`, { key, body: { name: 'Renamed' } })
  await other.call('DELETE', `/monitors/${removed}`, { key })
  await execute(db, `UPDATE monitors SET status = 'degraded' WHERE id = ?`, [silent])
  for (const from of [api, other]) {
    const changes = await read(from, first.revision)
    t.same([changes.reset, changes.removed], [false, [removed]])
    t.same(changes.monitors.id.sort(), [renamed, silent].sort())
    const rows = applyBoard(applyBoard(new Map(), first), changes)
    t.same(rows, applyBoard(new Map(), await read(from)), 'the changes lead to the whole board')
  }
})

t.test(
  'GET /monitors/board 200 has the parents of a monitor, and a change of them is a change of the board',
  async t => {
    const { key, projectId } = await api.tenant()
    const [child, first, second] = (await insertWatchedMonitors(db, projectId, 3)) as [string, string, string]
    const read = async (since: string) => (await api.call('GET', `/monitors/board?since=${since}`, { key })).body.data
    let { revision } = (await api.call('GET', '/monitors/board', { key })).body.data
    for (const parents of [[second, first], [second], []]) {
      await other.call('PUT', `/monitors/${child}/parents`, { key, body: { parent_ids: parents } })
      const { monitors, ...rest } = await read(revision)
      t.same([monitors.id, monitors.parents], [[child], [parents.toSorted()]])
      revision = rest.revision
    }
  },
)

t.test('GET /monitors/board 200 says until when a monitor is silenced, and follows each change of that', async t => {
  const { key, projectId } = await api.tenant()
  const [id] = (await insertWatchedMonitors(db, projectId, 2)) as [string, string]
  let { revision } = (await api.call('GET', '/monitors/board', { key })).body.data
  const read = async () => {
    const { monitors, ...rest } = (await api.call('GET', `/monitors/board?since=${revision}`, { key })).body.data
    revision = rest.revision
    return [monitors.id, monitors.silenced_until]
  }
  const silence = async (minutes: number) => {
    const until = new Date(Date.now() + minutes * 60_000).toISOString()
    const made = await other.call('POST', '/silences', { key, body: { monitor_ids: [id], until } })
    return { id: made.body.data.id, until }
  }
  const [short, long] = [await silence(10), await silence(20)]
  t.same(await read(), [[id], [long.until]], 'the last end of several')
  await other.call('DELETE', `/silences/${long.id}`, { key })
  t.same(await read(), [[id], [short.until]])
  await other.call('DELETE', `/silences/${short.id}`, { key })
  t.same(await read(), [[id], [null]])
})

t.test('Board, votes and wallboard say since when results have not been read', async t => {
  const { key, projectId } = await api.tenant()
  const [stale, fresh, paused] = (await insertMonitors(db, projectId, 3)) as [string, string, string]
  const setPartition = (id: string, partition: number) =>
    execute(db, 'UPDATE monitors SET partition = ? WHERE id = ?', [partition, id])
  for (const [id, partition] of [
    [stale, 11],
    [fresh, 12],
    [paused, 13],
  ] as const)
    await setPartition(id, partition)
  // the other tests of this file have no reader
  const readers = await db('partitions').whereIn('id', [11, 12, 13])
  t.teardown(() => Promise.all(readers.map(({ id, ...columns }) => db('partitions').where({ id }).update(columns))))
  const setReader = (partition: number, leaseUntil: string) =>
    execute(db, `UPDATE partitions SET epoch = 1, owner = 'a', lease_until = ${leaseUntil} WHERE id = ?`, [partition])
  for (const partition of [11, 12]) await setReader(partition, `now() + interval '1 hour'`)
  const wall = (await api.call('POST', '/wall-links', { key, body: { name: 'Office' } })).body.data
  const call = async (path: string) => (await api.call('GET', path, { key })).body.data
  const readAll = async () => ({
    board: (await call('/monitors/board')).unread_since,
    changes: (await call(`/monitors/board?since=${revision}`)).unread_since,
    stale: (await call(`/monitors/${stale}/votes`)).unread_since,
    fresh: (await call(`/monitors/${fresh}/votes`)).unread_since,
    wall: (await (await fetch(`${api.origin}${new URL(wall.url).pathname}/data`)).json()).data.unreadSince,
  })
  const shows = (expected: object) =>
    waitFor(async () => JSON.stringify(await readAll()) === JSON.stringify(expected), {
      label: JSON.stringify(expected),
    })
  const { revision } = await call('/monitors/board')
  const current = { board: null, changes: null, stale: null, fresh: null, wall: null }
  t.same(await readAll(), current)
  const { headers } = await api.call('GET', '/monitors/board', { key })
  const condition = { 'if-none-match': headers.get('etag')! }

  const since = new Date(Date.now() - 600_000).toISOString()
  await setReader(11, `'${since}'`)
  await setReader(13, `'2026-01-01T00:00:00Z'`)
  await api.call('POST', `/monitors/${paused}/pause`, { key })
  await shows({ board: since, changes: since, stale: since, fresh: null, wall: since })
  t.equal((await api.call('GET', '/monitors/board', { key, headers: condition })).status, 200, 'not the old answer')
  t.equal((await api.call('GET', '/monitors/board', { key: (await api.tenant()).key })).body.data.unread_since, null)

  await setReader(11, `now() + interval '1 hour'`)
  await shows(current)
})

t.test('GET /monitors/board with an unknown revision returns everything as a reset', async t => {
  const { key, projectId } = await api.tenant()
  await insertWatchedMonitors(db, projectId, 3)
  const { revision } = (await api.call('GET', '/monitors/board', { key })).body.data
  const another = (await api.call('GET', '/monitors/board', { key: (await api.tenant()).key })).body.data
  const [seconds, xmin, ...rest] = revision.split('.')
  const hourAgo = Math.floor(Date.now() / 1_000 - 3_600).toString(36)
  const future = (Number.parseInt(xmin, 36) + 1_000_000).toString(36)
  const unknown = [
    '',
    'x',
    '1.2',
    `${hourAgo}.${xmin}.${rest.join('.')}`,
    [seconds, future, ...rest].join('.'),
    '0.0.0.z-a',
    another.revision,
  ]
  for (const since of unknown) {
    const { body } = await api.call('GET', `/monitors/board?since=${encodeURIComponent(since)}`, { key })
    t.same([body.data.reset, body.data.monitors.id.length], [true, 3], since)
  }
  t.equal((await api.call('GET', `/monitors/board?since=${'a'.repeat(2_000)}`, { key })).status, 400)
  t.equal((await api.call('GET', '/monitors/board?since_revision=1', { key })).status, 400)
})

t.test('GET /monitors/board 304 while nothing has changed, also at another process', async t => {
  const { key, projectId } = await api.tenant()
  const [id] = await insertWatchedMonitors(db, projectId, 5)
  const { headers } = await api.call('GET', '/monitors/board', { key })
  const condition = { 'if-none-match': headers.get('etag')! }
  for (const from of [api, other]) {
    const answer = await from.call('GET', '/monitors/board', { key, headers: condition })
    t.same([answer.status, answer.body, answer.headers.get('etag')], [304, '', condition['if-none-match']])
  }
  await execute(db, `UPDATE monitors SET status = 'degraded' WHERE id = ?`, [id!])
  t.equal((await other.call('GET', '/monitors/board', { key, headers: condition })).status, 200)
  t.equal((await api.call('GET', '/monitors/board', { key: null })).status, 401)
})

t.test('Changes that commit in another order than they began are all in the board', async t => {
  const { key, projectId } = await api.tenant()
  const [early, late] = (await insertWatchedMonitors(db, projectId, 2)) as [string, string]
  const rename = 'UPDATE monitors SET name = ? WHERE id = ?'
  const begun = await openTransaction(db)
  await begun.raw(rename, ['first', early])
  await db.raw(rename, ['second', late])
  const one = (await api.call('GET', '/monitors/board', { key })).body.data
  await begun.commit()
  const two = (await api.call('GET', `/monitors/board?since=${one.revision}`, { key })).body.data
  t.same([two.reset, two.monitors.id, two.monitors.name], [false, [early], ['first']])
})

t.test('The board of a project has no monitors of another one', async t => {
  const [mine, foreign] = [await api.tenant(), await api.tenant()]
  await insertWatchedMonitors(db, foreign.projectId, 3)
  const [own] = await insertWatchedMonitors(db, mine.projectId, 1)
  const read = async (path: string) => (await api.call('GET', path, { key: mine.key })).body.data
  const before = await read('/monitors/board')
  t.same(before.monitors.id, [own])
  await execute(db, `UPDATE monitors SET name = 'Changed' WHERE project_id = ?`, [foreign.projectId])
  const { monitors, removed } = await read(`/monitors/board?since=${before.revision}`)
  t.same([monitors.id, removed], [[], []])
})

t.test('10,000 monitors are at most 250 kB compressed', async t => {
  const { key, projectId } = await api.tenant()
  await insertWatchedMonitors(db, projectId, 10_000)
  for (const encoding of ['gzip', 'br']) {
    const headers = { authorization: `Bearer ${key}`, 'accept-encoding': encoding }
    const answer = await fetch(`${api.origin}/api/v1/monitors/board`, { headers })
    t.equal(answer.headers.get('content-encoding'), encoding)
    const { data } = (await answer.json()) as { data: { monitors: { id: string[] } } }
    t.equal(data.monitors.id.length, 10_000)
    const bytes = Number(answer.headers.get('content-length'))
    t.ok(bytes > 100_000 && bytes < 250_000, `${encoding}: ${bytes} bytes`)
  }
})
