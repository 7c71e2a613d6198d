import t from 'tap'
import { ruleRoutes } from '../../control-plane/alerting/routing/rules/rule-routes.ts'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { monitorRoutes } from '../../control-plane/monitoring/monitors/routes.ts'
import { bulkChangeRoutes } from '../../control-plane/verdict/bulk-changes/routes.ts'
import { monitorLifecycleRoutes } from '../../control-plane/verdict/core/monitor-lifecycle-routes.ts'
import { type Account, type Call, createResourceApi } from '../support/resource-api.ts'
import { NO_HISTORY } from '../support/unwatched.ts'

const api = await createResourceApi(t, (app, handles) => {
  monitorRoutes(app, { ...handles, readMonitoringState: NO_HISTORY })
  monitorLifecycleRoutes(app, { ...handles, watching: NO_HISTORY })
  ruleRoutes(app, handles)
  bulkChangeRoutes(app, handles)
})
const UNKNOWN = '0190a0a0-0000-7000-8000-000000000000'
const PATH = 'POST /monitors/bulk-changes'
const SHOP = {
  ...{ name: 'Shop', type: 'http', url: 'https://shop.example.com/', interval_seconds: 60, retry_count: 2 },
  ...{ timeout_ms: 30_000, regions: ['us-east', 'eu-west'], tags: ['shop', 'live'] },
}

const addMonitor = async (call: Call, body: object = {}): Promise<string> =>
  (await call('POST /monitors', { ...SHOP, ...body })).body.data.id

async function addChannel({ projectId }: Account): Promise<string> {
  const [row] = await query<{ id: string }>(
    api.db,
    `INSERT INTO alert_channels (id, project_id, name, type, config, is_default, created_at, updated_at)
     VALUES (gen_random_uuid(), ?, 'Hook', 'webhook', '', false, now(), now()) RETURNING id`,
    [projectId],
  )
  return row!.id
}

/** What a change must restore: everything that a user sets of a monitor, and its rules. */
async function readState(call: Call, id: string) {
  const { updated_at, ...monitor } = (await call(`GET /monitors/${id}`)).body.data
  const rules = (await call(`GET /alerts/rules?monitor_id=${id}`)).body.data
  const settings = rules.map(({ id, created_at, updated_at, ...rest }: Record<string, unknown>) => rest)
  const byChannel = (rule: { alert_channel_id: string }) => rule.alert_channel_id
  return { monitor, rules: settings.sort((a: never, b: never) => (byChannel(a) < byChannel(b) ? -1 : 1)) }
}

t.test('Each change is shown by a dry run, applied as shown, and restored exactly by its undo', async t => {
  const account = await api.account()
  const { call } = account
  const [old, next] = [await addChannel(account), await addChannel(account)]
  const changes: [string, object, { field: string; from: unknown; to: unknown }[]][] = [
    ['pause', { is_paused: true }, [{ field: 'is_paused', from: false, to: true }]],
    ['interval', { interval_seconds: 300 }, [{ field: 'interval_seconds', from: 60, to: 300 }]],
    ['timeout', { timeout_ms: 5_000 }, [{ field: 'timeout_ms', from: 30_000, to: 5_000 }]],
    ['retries', { retry_count: 0 }, [{ field: 'retry_count', from: 2, to: 0 }]],
    [
      'other regions',
      { regions: { set: ['ap-southeast'] } },
      [{ field: 'regions', from: SHOP.regions, to: ['ap-southeast'] }],
    ],
    [
      'one more region, one less',
      { regions: { add: ['ap-southeast', 'eu-west'], remove: ['us-east'] } },
      [{ field: 'regions', from: SHOP.regions, to: ['eu-west', 'ap-southeast'] }],
    ],
    [
      'tags',
      { tags: { add: ['eu', 'shop'], remove: ['live'] } },
      [{ field: 'tags', from: SHOP.tags, to: ['shop', 'eu'] }],
    ],
    ['no tags', { tags: { set: null } }, [{ field: 'tags', from: SHOP.tags, to: null }]],
    [
      'several fields',
      { interval_seconds: 120, is_paused: true, tags: { remove: ['shop', 'live'] } },
      [
        { field: 'is_paused', from: false, to: true },
        { field: 'interval_seconds', from: 60, to: 120 },
        { field: 'tags', from: SHOP.tags, to: [] },
      ],
    ],
    [
      'a rule less, a rule more',
      { alert_rules: { remove: [old.toUpperCase()], add: [{ alert_channel_id: next }] } },
      [
        {
          field: 'alert_rules',
          from: [
            {
              ...{ alert_channel_id: old, on_down: true, on_recovery: false, on_degraded: true },
              remind_every_minutes: 30,
            },
          ],
          to: [{ alert_channel_id: next }],
        },
      ],
    ],
  ]
  for (const [what, change, fields] of changes) {
    const id = await addMonitor(call)
    const switches = { on_recovery: false, on_degraded: true }
    const rule = (await call('POST /alerts/rules', { monitor_id: id, alert_channel_id: old, ...switches })).body.data.id
    await call(`PUT /alerts/rules/${rule}`, { remind_every_minutes: 30 })
    const before = await readState(call, id)
    const dry = await call(PATH, { monitor_ids: [id], change })
    const items = [{ monitor_id: id, name: 'Shop', result: 'changed', changes: fields, error: null }]
    const counts = { changed: 1, unchanged: 0, refused: 0 }
    t.same(dry.body, { data: { dry_run: true, ...counts, items, undo: null } }, what)
    t.same(await readState(call, id), before, `${what}: a dry run changes nothing`)
    const real = (await call(PATH, { monitor_ids: [id], change, dry_run: false })).body.data
    t.same(real.items, items, what)
    t.notSame(await readState(call, id), before, what)
    const again = (await call(PATH, { monitor_ids: [id], change, dry_run: false })).body.data
    t.same([again.unchanged, again.undo], [1, null], `${what} a second time`)
    const undone = (await call(PATH, real.undo)).body.data
    t.equal(undone.changed, 1, what)
    const { status_changed_at: _, ...monitor } = (await readState(call, id)).monitor
    const { status_changed_at: __, ...expected } = before.monitor
    t.same({ monitor, rules: (await readState(call, id)).rules }, { monitor: expected, rules: before.rules }, what)
  }
})

t.test('Monitors with different values are restored each to its own', async t => {
  const { call } = await api.account()
  const ids = [
    await addMonitor(call),
    await addMonitor(call, { tags: null, interval_seconds: 30 }),
    await addMonitor(call, { interval_seconds: 30 }),
  ]
  const before = await Promise.all(ids.map(id => readState(call, id)))
  const change = { interval_seconds: 600, tags: { add: ['moved'] }, is_paused: true }
  const { body } = await call(PATH, { monitor_ids: ids, change, dry_run: false })
  t.equal(body.data.changed, 3)
  t.same(
    body.data.undo.changes.map((group: { monitor_ids: string[] }) => group.monitor_ids),
    ids.map(id => [id]),
  )
  const undone = (await call(PATH, body.data.undo)).body.data
  const withoutTime = ({
    monitor: { status_changed_at: _, ...monitor },
  }: {
    monitor: { status_changed_at: unknown }
  }) => monitor
  const after = await Promise.all(ids.map(id => readState(call, id)))
  t.same(after.map(withoutTime), before.map(withoutTime))
  await call(PATH, undone.undo)
  t.equal((await readState(call, ids[1]!)).monitor.interval_seconds, 600, 'an undo can be undone')
})

t.test('Deleting closes what a single delete closes, and has no undo', async t => {
  const account = await api.account()
  const { call } = account
  const ids = [await addMonitor(call), await addMonitor(call)]
  const dry = (await call(PATH, { monitor_ids: ids, change: { delete: true } })).body.data
  t.same([dry.changed, dry.items[0].changes], [2, [{ field: 'deleted', from: false, to: true }]])
  t.equal((await call('GET /monitors')).body.meta.total, 2)
  const { body } = await call(PATH, { monitor_ids: ids, change: { delete: true }, dry_run: false })
  t.same([body.data.changed, body.data.undo], [2, null])
  t.equal((await call('GET /monitors')).body.meta.total, 0)
  const gone = (await call(PATH, { monitor_ids: ids, change: { is_paused: true }, dry_run: false })).body.data
  t.match(gone, { refused: 2, items: [{ name: null, error: { code: 'not_found', message: 'monitor not found' } }] })
})

t.test('A monitor that is refused does not stop the others, and stays completely as it was', async t => {
  const account = await api.account()
  const { call } = account
  const [good, single, full] = [
    await addMonitor(call),
    await addMonitor(call, { regions: ['us-east'] }),
    await addMonitor(call, { tags: Array.from({ length: 50 }, (_, i) => `t${i}`) }),
  ]
  const theirs = await addMonitor((await api.account()).call)
  const child = await addMonitor(call)
  await execute(
    api.db,
    `INSERT INTO data_sources (id, project_id, name, url, method, fetch_interval_s, timeout_ms, next_fetch_at, created_at,
       updated_at)
     VALUES (:id, :projectId, 'Health', 'https://shop.example.com', 'GET', 60, 30000, now(), now(), now())`,
    { id: UNKNOWN, projectId: account.projectId },
  )
  await execute(api.db, 'UPDATE monitors SET data_source_id = ? WHERE id = ?', [UNKNOWN, child])
  await execute(
    api.db,
    `INSERT INTO data_source_children (monitor_id, data_source_id, key, made_name) VALUES (?, ?, 'db', 'Shop')`,
    [child, UNKNOWN],
  )
  const change = { regions: { remove: ['us-east'] }, tags: { add: ['new'] } }
  const ids = [single, theirs, 'not-an-id', full, UNKNOWN, child, good]
  const { body } = await call(PATH, { monitor_ids: ids, change, dry_run: false })
  t.match(body.data, { changed: 1, unchanged: 0, refused: 6 })
  t.same(
    body.data.items.map((item: { error: { code: string; message: string } | null }) => item.error),
    [
      { code: 'validation_error', message: 'regions must not be empty' },
      { code: 'not_found', message: 'monitor not found' },
      { code: 'not_found', message: 'monitor not found' },
      { code: 'validation_error', message: 'tags must have at most 50 items' },
      { code: 'not_found', message: 'monitor not found' },
      {
        code: 'conflict',
        message: 'only name and tags can be changed for a monitor of a data source; change the data source instead',
      },
      null,
    ],
  )
  t.same((await readState(call, single)).monitor.tags, SHOP.tags, 'not even the part that is allowed')
  t.same((await readState(call, good)).monitor.regions, ['eu-west'])
  const deleted = (await call(PATH, { monitor_ids: [child], change: { delete: true }, dry_run: false })).body.data
  t.match(deleted.items[0].error, { code: 'conflict', message: /a monitor of a data source cannot be deleted/ })
})

t.test('Rules: an unknown or foreign channel and too many rules are refused by monitor', async t => {
  const account = await api.account()
  const { call } = account
  const id = await addMonitor(call)
  const foreign = await addChannel(await api.account())
  for (const alert_channel_id of [UNKNOWN, 'x', foreign]) {
    const change = { alert_rules: { add: [{ alert_channel_id }] } }
    const { body } = await call(PATH, { monitor_ids: [id], change, dry_run: false })
    t.match(body.data.items[0], { result: 'refused', error: { code: 'not_found', message: 'channel not found' } })
    const removed = await call(PATH, { monitor_ids: [id], change: { alert_rules: { remove: [alert_channel_id] } } })
    t.equal(removed.body.data.unchanged, 1)
  }
  const channels = await Promise.all(Array.from({ length: 21 }, () => addChannel(account)))
  const add = channels.map(alert_channel_id => ({ alert_channel_id }))
  const most = { alert_rules: { add: add.slice(1) } }
  t.equal((await call(PATH, { monitor_ids: [id], change: most, dry_run: false })).body.data.changed, 1)
  const more = { alert_rules: { add: add.slice(0, 1) } }
  const { body } = await call(PATH, { monitor_ids: [id], change: more, dry_run: false })
  t.match(body.data.items[0].error, {
    code: 'tier_limit_reached',
    message: /at most 20 alert rules; this would make 21/,
  })
  const exchange = { alert_rules: { remove: [channels[1]], add: add.slice(0, 1) } }
  t.equal((await call(PATH, { monitor_ids: [id], change: exchange, dry_run: false })).body.data.changed, 1)
})
