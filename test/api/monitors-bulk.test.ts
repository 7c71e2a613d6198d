import t from 'tap'
import { monitorRoutes } from '../../control-plane/monitoring/monitors/routes.ts'
import { createResourceApi } from '../support/resource-api.ts'
import { NO_HISTORY } from '../support/unwatched.ts'

const api = await createResourceApi(t, (app, handles) => {
  monitorRoutes(app, { ...handles, readMonitoringState: NO_HISTORY })
})

t.test('POST /monitors 402 tier limit: the free plan has 50, and a bulk item past them gets that error', async t => {
  const { call } = await api.account('free')
  const monitors = Array.from({ length: 49 }, (_, i) => ({ name: `M ${i}`, type: 'http' }))
  t.equal((await call('POST /monitors/bulk', { monitors })).body.monitors.length, 49)
  const bulk = await call('POST /monitors/bulk', { monitors: monitors.slice(0, 3) })
  t.equal(bulk.status, 201)
  t.equal(bulk.body.monitors.length, 1)
  const error = 'the free plan includes 50 monitors and 50 are in use'
  t.same(bulk.body.errors, [
    { index: 1, error },
    { index: 2, error },
  ])
  const single = await call('POST /monitors', { name: 'One more', type: 'http' })
  t.equal(single.status, 402)
  t.same(single.body, { error: { code: 'tier_limit_reached', message: error, status: 402 } })
  t.equal((await call('GET /monitors')).body.meta.total, 50)
})

t.test('two requests at once cannot pass the limit of the plan together', async t => {
  const { call } = await api.account('free')
  const monitors = Array.from({ length: 45 }, (_, i) => ({ name: `M ${i}`, type: 'http' }))
  await call('POST /monitors/bulk', { monitors })
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => call('POST /monitors', { name: 'X', type: 'http' })),
  )
  t.equal(answers.filter(({ status }) => status === 201).length, 5)
  t.equal(answers.filter(({ status }) => status === 402).length, 5)
})

t.test('POST /monitors/bulk 201: what cannot be created is told by its place, the rest is created', async t => {
  const { call } = await api.account()
  const good = { name: 'Good', type: 'tcp', url: 'tcp://example.com:443' }
  const monitors = [
    good,
    { type: 'http' },
    good,
    { ...good, interval_seconds: '60', extra: 1 },
    null,
    { ...good, url: 'tcp://10.0.0.1:80' },
  ]
  const { status, body } = await call('POST /monitors/bulk', { monitors })
  t.equal(status, 201)
  t.same(
    body.monitors.map((monitor: { name: string }) => monitor.name),
    ['Good', 'Good'],
  )
  t.same(body.errors, [
    { index: 1, error: 'name is required' },
    { index: 3, error: 'extra is not a known property; interval_seconds must be an integer' },
    { index: 4, error: 'the monitor must be an object' },
    { index: 5, error: 'blocked_target: 10.0.0.1 is a private address, which must not be checked' },
  ])
  t.equal((await call('GET /monitors')).body.meta.total, 2)
})

t.test('POST /monitors/bulk 201 when every item fails, 400 for more than 50', async t => {
  const { call } = await api.account()
  const failing = await call('POST /monitors/bulk', { monitors: [{}, { name: '' }] })
  t.equal(failing.status, 201)
  t.same(failing.body.monitors, [])
  t.same(
    failing.body.errors.map(({ index }: { index: number }) => index),
    [0, 1],
  )
  for (const body of [
    { monitors: Array(51).fill({ name: 'X', type: 'http' }) },
    {},
    { monitors: {} },
    { monitors: [], more: 1 },
  ]) {
    const refused = await call('POST /monitors/bulk', body)
    t.match(refused, { status: 400, body: { error: { code: 'validation_error' } } })
  }
  t.equal((await call('GET /monitors')).body.meta.total, 0)
})

t.test('a bulk create of 50 is one statement for the monitors and one for their rules', async t => {
  const { call, projectId } = await api.account()
  await api.db.raw(
    `INSERT INTO alert_channels (id, project_id, name, type, config, is_default, created_at, updated_at)
     SELECT gen_random_uuid(), ?, 'Hook', 'webhook', '', n <= 2, now(), now() FROM generate_series(1, 3) AS n`,
    [projectId],
  )
  const statements: string[] = []
  const record = ({ sql }: { sql: string }) => statements.push(sql)
  api.db.on('query', record)
  const monitors = Array.from({ length: 50 }, (_, i) => ({ name: `M ${i}`, type: 'http', url: 'https://example.com' }))
  const { status, body } = await call('POST /monitors/bulk', { monitors })
  api.db.off('query', record)
  t.equal(status, 201)
  t.equal(body.monitors.length, 50)
  t.equal(statements.filter(sql => sql.includes('INSERT INTO monitors')).length, 1)
  t.equal(statements.filter(sql => sql.includes('INSERT INTO alert_rules')).length, 1)
  const { rows } = await api.db.raw(
    'SELECT count(*)::integer AS rules, count(DISTINCT monitor_id)::integer AS monitors FROM alert_rules WHERE project_id = ?',
    [projectId],
  )
  t.same(rows, [{ rules: 100, monitors: 50 }], 'each new monitor has the two default channels')
})
