import t from 'tap'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { shareApi } from '../support/api-server.ts'
import { insertWatchedMonitors } from '../support/board.ts'
import { runWhileLocked } from '../support/while-held.ts'

const api = await shareApi()
const PATH = '/monitors/bulk-changes'
const ID = '0190a0a0-0000-7000-8000-000000000000'
const SHOP = { name: 'Shop', type: 'http', url: 'https://shop.example.com/' }
const PAUSE = { is_paused: true }

t.test('POST /monitors/bulk-changes 400 names what is wrong with the request, and changes nothing', async t => {
  const { key } = await api.tenant()
  const wrong: [object, string, RegExp][] = [
    [{}, '', /exactly one of monitor_ids, query and changes/],
    [{ monitor_ids: [ID], query: {}, change: PAUSE }, '', /exactly one of/],
    [{ monitor_ids: [ID] }, 'change', /change is required/],
    [{ query: {} }, 'change', /change is required/],
    [{ changes: [{ monitor_ids: [ID], change: PAUSE }], change: PAUSE }, 'change', /cannot be combined/],
    [{ monitor_ids: [ID], change: {} }, 'change', /at least one property/],
    [{ monitor_ids: [], change: PAUSE }, 'monitor_ids', /must not be empty/],
    [
      { monitor_ids: [ID], change: { delete: true, ...PAUSE } },
      'change.delete',
      /cannot be combined with other changes/,
    ],
    [{ monitor_ids: [ID], change: { delete: false } }, 'change.delete', /./],
    [{ monitor_ids: [ID], change: { tags: {} } }, 'change.tags', /at least one property/],
    [
      { monitor_ids: [ID], change: { tags: { set: [], add: ['x'] } } },
      'change.tags.set',
      /cannot be combined with add/,
    ],
    [{ monitor_ids: [ID], change: { interval_seconds: 5 } }, 'change.interval_seconds', /at least 30/],
    [{ monitor_ids: [ID], change: { timeout_ms: 90_000 } }, 'change.timeout_ms', /at most 60000/],
    [{ monitor_ids: [ID], change: { regions: { set: [] } } }, 'change.regions.set', /must not be empty/],
    [{ monitor_ids: [ID], change: { regions: { add: ['mars'] } } }, 'change.regions.add[0]', /must be one of/],
    [{ monitor_ids: [ID], change: { name: 'All' } }, 'change.name', /not a known property/],
    [{ query: { page: 2 }, change: PAUSE }, 'query.page', /not a known property/],
    [{ query: { status: 'broken' }, change: PAUSE }, 'status', /status/],
    [{ monitor_ids: Array(10_001).fill(ID), change: PAUSE }, 'monitor_ids', /at most 10000/],
    [
      {
        changes: [
          { monitor_ids: [ID], change: PAUSE },
          { monitor_ids: [ID.toUpperCase()], change: { is_paused: false } },
        ],
      },
      'changes[1].monitor_ids[0]',
      /also in an earlier entry/,
    ],
  ]
  for (const [body, path, message] of wrong) {
    const answer = await api.call('POST', PATH, { key, body: { ...body, dry_run: false } })
    t.match(
      answer,
      { status: 400, body: { error: { details: [{ path, message }] } } },
      JSON.stringify(body).slice(0, 200),
    )
  }
})

t.test('A query selects the monitors of the list, only in the own project', async t => {
  const [mine, other] = [await api.tenant(), await api.tenant()]
  const add = (key: string, body: object) => api.call('POST', '/monitors', { key, body: { ...SHOP, ...body } })
  await add(mine.key, { name: 'A', tags: ['shop', 'eu'] })
  await add(mine.key, { name: 'B', tags: ['shop'] })
  await add(mine.key, { name: 'C' })
  await add(other.key, { name: 'Theirs', tags: ['shop', 'eu'] })
  const send = async (asked: object) =>
    (await api.call('POST', PATH, { key: mine.key, body: { query: asked, change: { interval_seconds: 300 } } })).body
      .data
  const listNames = async (asked: object) => (await send(asked)).items.map(({ name }: { name: string }) => name)
  t.same(await listNames({}), ['A', 'B', 'C'])
  t.same(await listNames({ tag: 'shop' }), ['A', 'B'])
  t.same(await listNames({ tag: ['shop', 'eu'] }), ['A'])
  t.same(await listNames({ not_tag: 'shop' }), ['C'])
  t.same(await listNames({ q: 'nothing' }), [])
  t.match(await send({ tag: 'shop' }), { dry_run: true, changed: 2 })
})

t.test('A viewer’s key cannot change monitors, not even in a dry run', async t => {
  const tenant = await api.tenant()
  const key = await api.createKey(tenant, 'read')
  for (const dry_run of [true, false]) {
    const answer = await api.call('POST', PATH, { key, body: { query: {}, change: PAUSE, dry_run } })
    t.match([answer.status, answer.body.error.code], [403, 'insufficient_scope'])
  }
})

t.test('The same Idempotency-Key changes monitors once and repeats the answer with its undo', async t => {
  const { key } = await api.tenant()
  await api.call('POST', '/monitors', { key, body: SHOP })
  const body = { query: {}, change: PAUSE, dry_run: false }
  const send = () => api.call('POST', PATH, { key, body, headers: { 'idempotency-key': 'once' } })
  const [first, again] = [await send(), await send()]
  t.match(first.body.data, { changed: 1, undo: { dry_run: false } })
  t.same(again.body, first.body)
  t.equal(again.headers.get('idempotent-replayed'), 'true')
})

type Entry = { action: string; actor: { kind: string }; changes: { field: string }[] }

t.test(
  '1,000 monitors change while another project writes; each is in the audit log, and the undo restores all',
  async t => {
    const [mine, other] = [await api.tenant(), await api.tenant()]
    const ids = await insertWatchedMonitors(api.db, mine.projectId, 1_000)
    const body = { monitor_ids: ids, change: { interval_seconds: 300, tags: { add: ['bulk'] } }, dry_run: false }
    let isDone = false
    const work = api.call('POST', PATH, { key: mine.key, body }).finally(() => {
      isDone = true
    })
    let writes = 0
    do {
      const made = await api.call('POST', '/monitors', { key: other.key, body: { ...SHOP, name: `Other ${writes}` } })
      t.equal(made.status, 201)
      writes++
    } while (!isDone && writes < 40)
    const { data } = (await work).body
    t.same([data.changed, data.unchanged, data.refused], [1_000, 0, 0])
    t.ok(writes > 1, `${writes} writes of the other project were answered meanwhile`)
    const count = async (condition: string) => {
      const sql = `SELECT count(*)::integer AS count FROM monitors WHERE project_id = ? AND ${condition}`
      return (await query<{ count: number }>(api.db, sql, [mine.projectId]))[0]!.count
    }
    t.equal(await count(`interval_seconds = 300 AND 'bulk' = ANY (tags)`), 1_000)
    t.equal((await api.call('POST', PATH, { key: mine.key, body: data.undo })).body.data.changed, 1_000)
    t.equal(await count(`interval_seconds = 300 OR 'bulk' = ANY (tags)`), 0)
    const { body: log } = await api.call('GET', '/audit-log?resource=monitor&per_page=100', { key: mine.key })
    t.equal(log.meta.total, 2_000, 'two entries for each monitor')
    const [entry] = log.data as Entry[]
    t.match(entry, { action: 'updated', actor: { kind: 'api_key' } })
  },
)

t.test('A bulk change takes one transaction for 100 monitors', async t => {
  const { key, projectId } = await api.tenant()
  const ids = await insertWatchedMonitors(api.db, projectId, 250)
  const send = (change: object) =>
    api.call('POST', PATH, { key, body: { monitor_ids: ids, change, dry_run: false } }).then(({ body }) => body.data)
  t.equal((await send(PAUSE)).changed, 250)
  const sql = `SELECT count(DISTINCT xmin::text)::integer AS count FROM monitors WHERE project_id = ?`
  t.equal((await query<{ count: number }>(api.db, sql, [projectId]))[0]!.count, 3, 'transactions')
  t.equal((await send({ delete: true })).changed, 250)
})

t.test('A bulk change ends when its API key is deleted, and names each monitor that it did not change', async t => {
  const tenant = await api.tenant()
  const ids = await insertWatchedMonitors(api.db, tenant.projectId, 1_100)
  const key = await api.createKey(tenant, 'write')
  const body = { monitor_ids: ids, change: PAUSE, dry_run: false }
  const { status, body: answer } = await runWhileLocked(
    api.db,
    tx => query(tx, 'SELECT 1 FROM monitors WHERE id = ? FOR UPDATE', [ids[950]!]),
    () => api.call('POST', PATH, { key, body }),
    tx => query(tx, `DELETE FROM api_keys WHERE project_id = ? AND scope = 'write'`, [tenant.projectId]),
  )
  t.match([status, answer.data.changed, answer.data.refused], [200, 1_000, 100])
  const last = answer.data.items.at(-1)
  t.match(last, { monitor_id: ids[1_099], error: { code: 'unauthorized', message: 'the API key is not valid' } })
  const paused = 'SELECT count(*)::integer AS count FROM monitors WHERE project_id = ? AND is_paused'
  t.same(await query(api.db, paused, [tenant.projectId]), [{ count: 1_000 }])
})
