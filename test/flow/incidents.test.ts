import t from 'tap'
import { connectNats } from '../../control-plane/foundation/platform/nats/client.ts'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { startNats } from '../support/nats.ts'
import { startReceiver } from '../support/receiver.ts'
import { insertLiveProbes, readStatuses, run } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

// takes about 18 s

const server = await startNats(t)
const PUBLIC_URL = 'https://picket.example'
const api = await startApi(t, { NATS_URL: server.url, ROLES: 'api,verdict,deliver', PUBLIC_URL })
await insertLiveProbes(api.db)
const nats = await connectNats(server.url, 'test')
t.teardown(() => nats.close())
await waitFor(async () => (await query(api.db, 'SELECT 1 FROM partitions WHERE owner IS NOT NULL')).length === 16, {
  label: '16 partitions',
})

/** A project with a monitor, and receivers of its incidents, its dependencies and the monitor. */
async function createScene(name: string) {
  const { key, projectId, userId } = await api.tenant()
  const call = async (route: string, body?: object) => {
    const [method = '', path = ''] = route.split(' ')
    const answer = await api.call(method, path, { key, ...(body && { body }) })
    if (answer.status > 201) throw new Error(`${route} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body.data
  }
  const monitor = await call('POST /monitors', { name, type: 'http', url: 'http://127.0.0.1:9', retry_count: 0 })
  const subscribe = async () => {
    const receiver = await startReceiver(t)
    const channel = await call('POST /alerts/channels', { name: 'x', type: 'webhook', config: { url: receiver.url } })
    return { receiver, alert_channel_id: channel.id }
  }
  const [incidents, vendors, rules] = [await subscribe(), await subscribe(), await subscribe()]
  await call('POST /alerts/project-channels', { ...pickChannelId(incidents), alert_type: 'incident' })
  await call('POST /alerts/project-channels', { ...pickChannelId(vendors), alert_type: 'dependency_incident' })
  await call('POST /alerts/rules', { monitor_id: monitor.id, ...pickChannelId(rules) })
  const check = async (checks: string, statuses: string) => {
    await run(nats, monitor.id, checks)
    await waitFor(async () => (await readStatuses(api.db, monitor.id)) === statuses, { label: statuses })
  }
  const incidentsNow = () => call('GET /incidents')
  const receivedEvents = async (count: number) =>
    (await incidents.receiver.waitFor(count)).map(({ json }) => json.event.replace('incident.', ''))
  return { call, monitor, projectId, userId, incidents, vendors, rules, check, incidentsNow, receivedEvents }
}

const pickChannelId = ({ alert_channel_id }: { alert_channel_id: string }) => ({ alert_channel_id })

t.test('An incident that people handle reaches the subscribed channels in order, with all fields', async t => {
  const { call, monitor, userId, incidents, vendors, rules, check } = await createScene('Shop')
  const elsewhere = await createScene('Elsewhere')
  await check('+-', 'up down')
  const [incident] = await call('GET /incidents')
  const acknowledged = await call(`POST /incidents/${incident.id}/acknowledge`)
  const note = await call(`POST /incidents/${incident.id}/updates`, { message: 'It is Bob.', is_internal: true })
  await call(`PUT /incidents/${incident.id}`, { severity: 'critical' })
  await check('+', 'up down up')
  const got = await incidents.receiver.waitFor(5)
  const over = await call(`GET /incidents/${incident.id}`)
  const updates = await call(`GET /incidents/${incident.id}/updates`)
  const withStatus = (status: string) => ({
    monitors: [{ id: monitor.id, name: 'Shop', status }],
    dashboard_url: `${PUBLIC_URL}/incidents/${incident.id}`,
    status_page_url: null,
  })
  const { id, title, started_at } = incident
  const begun = { id, title, status: 'investigating', severity: 'major', started_at, resolved_at: null }
  const seen = { acknowledged_at: acknowledged.acknowledged_at, acknowledged_by: userId }
  const shown = ({ incident_id, updated_at, ...update }: Record<string, unknown>) => update
  t.same(
    got.map(({ json }) => ({ event: json.event, ...json.data })),
    [
      {
        event: 'incident.created',
        incident: { ...begun, acknowledged_at: null, acknowledged_by: null },
        update: null,
        ...withStatus('down'),
      },
      { event: 'incident.acknowledged', incident: { ...begun, ...seen }, update: null, ...withStatus('down') },
      { event: 'incident.updated', incident: { ...begun, ...seen }, update: shown(note), ...withStatus('down') },
      {
        event: 'incident.updated',
        incident: { ...begun, ...seen, severity: 'critical' },
        update: shown(updates[1]),
        ...withStatus('down'),
      },
      {
        event: 'incident.resolved',
        incident: { ...begun, ...seen, severity: 'critical', status: 'resolved', resolved_at: over.resolved_at },
        update: shown(updates[0]),
        ...withStatus('up'),
      },
    ],
  )
  t.match(note, { is_internal: true, author_id: userId })
  t.match(updates[0], { message: /^Shop is up again after/, author_id: null, status: 'resolved', is_internal: false })
  for (const { headers, json } of got) {
    t.match(json, { api_version: '1', delivery_id: headers['x-service-delivery'] })
    t.equal(headers['x-service-event'], json.event)
    t.match(headers['x-service-signature'], /^sha256=[0-9a-f]{64}$/)
  }
  const byRule = await rules.receiver.waitFor(2)
  t.same(
    byRule.map(({ json }) => [json.event, json.data.incident.id]),
    [
      ['monitor.down', id],
      ['monitor.up', id],
    ],
  )
  t.equal(vendors.receiver.received.length + elsewhere.incidents.receiver.received.length, 0, 'no other channel')
})

t.test('An incident that a person resolved is not resolved again when the monitor recovers', async t => {
  const { call, check, incidents, incidentsNow } = await createScene('Shop')
  await check('-', 'down')
  const [{ id }] = await incidentsNow()
  await call(`POST /incidents/${id}/updates`, { message: 'A known test.', status: 'resolved' })
  const { resolved_at } = await call(`GET /incidents/${id}`)
  await check('+', 'down up')
  t.match(await call(`GET /incidents/${id}`), { status: 'resolved', resolved_at, message: 'A known test.' })
  await check('-', 'down up down')
  t.equal((await incidentsNow()).length, 2, 'the next outage is another incident')
  const received = (await incidents.receiver.waitFor(3)).map(({ json }) => [json.data.incident.id === id, json.event])
  const ofFirst = received.filter(([isFirst]) => isFirst)
  const ofNext = received.filter(([isFirst]) => !isFirst)
  // only the events of one incident have an order
  t.same(
    [...ofFirst, ...ofNext],
    [
      [true, 'incident.created'],
      [true, 'incident.resolved'],
      [false, 'incident.created'],
    ],
  )
})

t.test('An incident that is reopened during the outage ends with it', async t => {
  const { call, check, incidentsNow, receivedEvents } = await createScene('Shop')
  await check('-', 'down')
  const [{ id }] = await incidentsNow()
  await call(`PUT /incidents/${id}`, { status: 'resolved' })
  await call(`PUT /incidents/${id}`, { status: 'investigating' })
  await check('+', 'down up')
  t.match(await incidentsNow(), [{ id, status: 'resolved', message: /^Shop is up again/ }])
  t.same(await receivedEvents(4), ['created', 'resolved', 'updated', 'resolved'])
})

t.test(
  'An incident that is reopened after the outage is detached: later outages neither join nor resolve it',
  async t => {
    const { call, check, incidentsNow, receivedEvents } = await createScene('Shop')
    await check('-+', 'down up')
    const [{ id }] = await incidentsNow()
    await call(`PUT /incidents/${id}`, { status: 'monitoring' })
    await check('-', 'down up down')
    const [later] = await incidentsNow()
    t.not(later.id, id)
    await check('+', 'down up down up')
    t.match(await call(`GET /incidents/${id}`), { status: 'monitoring', resolved_at: null, source: 'automatic' })
    t.match(await call(`GET /incidents/${later.id}`), { status: 'resolved' })
    t.same((await receivedEvents(5)).sort(), ['created', 'created', 'resolved', 'resolved', 'updated'])
  },
)

t.test(
  'An incident that is reopened during a later outage is detached, also when the incident of that outage is resolved',
  async t => {
    const { call, check, incidentsNow } = await createScene('Shop')
    await check('-+', 'down up')
    const [{ id }] = await incidentsNow()
    await check('-', 'down up down')
    const [later] = await incidentsNow()
    await call(`PUT /incidents/${later.id}`, { status: 'resolved' })
    await call(`PUT /incidents/${id}`, { status: 'monitoring' })
    await check('+', 'down up down up')
    t.match(await call(`GET /incidents/${id}`), { status: 'monitoring', resolved_at: null, source: 'automatic' })
  },
)

t.test('A manual incident about a monitor is not changed by its outages', async t => {
  const { call, check, monitor } = await createScene('Shop')
  const { id } = await call('POST /incidents', { title: 'Payments fail', monitor_ids: [monitor.id] })
  await check('-+', 'down up')
  await call(`POST /monitors/${monitor.id}/pause`)
  t.match(await call(`GET /incidents/${id}`), { status: 'investigating', resolved_at: null, source: 'manual' })
})

const ENDS: [what: string, act: (scene: Awaited<ReturnType<typeof createScene>>) => Promise<unknown>, note: string][] =
  [
    [
      'paused',
      ({ call, monitor }) => call(`POST /monitors/${monitor.id}/pause`),
      'Resolved because the monitor was paused.',
    ],
    [
      'deleted',
      ({ call, monitor }) => call(`DELETE /monitors/${monitor.id}`),
      'Resolved because the monitor was deleted.',
    ],
    [
      'left without an address',
      ({ call, monitor }) => call(`PUT /monitors/${monitor.id}`, { url: null }),
      'Resolved because the monitor is no longer checked.',
    ],
  ]
for (const [what, act, message] of ENDS) {
  t.test(`The incident of a monitor that is ${what} ends with an update, and without monitor.up`, async t => {
    const scene = await createScene('Shop')
    await scene.check('-', 'down')
    await act(scene)
    const [, resolved] = await scene.incidents.receiver.waitFor(2)
    t.match(resolved?.json, {
      event: 'incident.resolved',
      data: {
        incident: { status: 'resolved', resolved_at: /Z$/ },
        update: { status: 'resolved', message, is_internal: false, author_id: null },
        monitors: [{ id: scene.monitor.id, name: 'Shop', status: null }],
      },
    })
    const names = await query(api.db, 'SELECT name FROM events WHERE subject = ?', [`monitor:${scene.monitor.id}`])
    t.same(names, [{ name: 'monitor.down' }])
  })
}

t.test(
  'Concurrent changes of an incident by people and the verdict publish each end once, without a deadlock',
  async t => {
    const { call, check, incidentsNow } = await createScene('Shop')
    const moves = ['resolved', 'identified', 'resolved', 'monitoring', 'resolved', 'investigating']
    let statuses = ''
    for (let round = 0; round < 5; round++) {
      await check('-', `${statuses} down`.trim())
      const [{ id }] = await incidentsNow()
      statuses = `${statuses} down up`.trim()
      await Promise.all([check('+', statuses), ...moves.map(status => call(`PUT /incidents/${id}`, { status }))])
    }
    const events = await query<{ subject: string; name: string; status: string }>(
      api.db,
      `SELECT subject, name, data->'incident'->>'status' AS status FROM events
     WHERE subject = ANY(?) ORDER BY subject, id`,
      [(await incidentsNow()).map(({ id }: { id: string }) => `incident:${id}`)],
    )
    t.ok(events.length >= 10)
    const wrong = events.filter(({ subject, name, status }, i) => {
      const before = events[i - 1]?.subject === subject ? events[i - 1]?.status : null
      return (name === 'incident.resolved') !== (status === 'resolved' && before !== 'resolved')
    })
    t.same(wrong, [])
  },
)
