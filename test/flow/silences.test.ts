import t from 'tap'
import { createHourly } from '../support/hourly.ts'
import { startPicket } from '../support/picket.ts'
import { startReceiver } from '../support/receiver.ts'
import { startTarget } from '../support/target.ts'
import { waitFor } from '../support/wait.ts'

// takes about 90 s

const picket = await startPicket(t)
const { api } = picket
const target = await startTarget(t)
const receiver = await startReceiver(t)
const hook = { name: 'Hook', type: 'webhook', config: { url: receiver.url }, is_default: true }
const channel = (await api.post('/alerts/channels', hook)).body.data
await api.post('/alerts/project-channels', { alert_channel_id: channel.id, alert_type: 'incident' })

/** One request for all of them: a request for each would take most of the processor time of this file. */
const statuses = async () => {
  const { body } = await api.get('/monitors?per_page=100')
  return new Map((body.data as { id: string; status: string }[]).map(({ id, status }) => [id, status]))
}
const reach = (ids: string[], status: string) =>
  waitFor(
    async () => {
      const current = await statuses()
      return ids.every(id => current.get(id) === status)
    },
    { label: `${ids.length} monitors ${status}` },
  )
const check = (ids: string[]) => Promise.all(ids.map(id => api.post(`/monitors/${id}/check`)))

/** Monitors of their own pages that are up. */
async function watch(names: string[], more: object = {}): Promise<string[]> {
  const monitors = names.map(name => ({
    name,
    type: 'http',
    url: target.url + name,
    retry_count: 0,
    timeout_ms: 30_000,
    interval_seconds: 30,
    ...more,
  }))
  const made = (await api.post('/monitors/bulk', { monitors })).body.monitors as { id: string }[]
  const ids = made.map(({ id }) => id)
  await reach(ids, 'up')
  return ids
}

/** "down Router": what the receiver got about monitors, in the order of arrival. */
const received = () =>
  receiver.received.flatMap(({ json }) =>
    json.event.startsWith('monitor.') ? `${json.event.slice(8)} ${json.data.monitor.name}` : [],
  )
const listReceived = (names: string[]) => received().filter(one => names.includes(one.split(' ')[1]!))
const page = (name: string, status: number) => target.behaveAt(`/${name}`, { kind: 'answer', status })

t.test(
  'A parent and twenty children that go down cause one alert, and children that recover with it cause none',
  async t => {
    const names = Array.from({ length: 20 }, (_, i) => `host-${i}`)
    const [router] = (await watch(['router'], { retry_count: 1, timeout_ms: 60_000 })) as [string]
    const children = await watch(names)
    for (const child of children) await api.put(`/monitors/${child}/parents`, { parent_ids: [router] })
    for (const name of ['router', ...names]) page(name, 500)
    await check(children)
    await reach(children, 'down')
    await reach([router], 'down')
    await receiver.waitFor(1, { match: ({ json }) => json.event === 'incident.created' })
    const [transition] = (await api.get(`/monitors/${children[0]}/transitions`)).body.data
    await waitFor(async () => {
      const [newest] = (await api.get(`/monitors/${children[0]}/transitions`)).body.data
      return newest.caused_by_monitor_id === router
    })
    t.equal(transition.to, 'down')
    const causes = async (): Promise<(string | null)[]> => {
      const { body } = await api.get('/incidents?status=investigating&per_page=100')
      return body.data.map((incident: { caused_by_monitor_id: string | null }) => incident.caused_by_monitor_id)
    }
    await waitFor(async () => (await causes()).filter(cause => cause === router).length === 20, {
      label: 'the cause of twenty incidents',
    })
    t.equal((await causes()).length, 21)

    for (const name of ['router', ...names]) page(name, 200)
    await check([router, ...children])
    await check([router, ...children])
    await reach([router, ...children], 'up')
    await waitFor(() => received().includes('up router'), { label: 'the recovery of the router' })
    await receiver.waitFor(1, { match: ({ json }) => json.event === 'incident.resolved' })
    t.same(listReceived(['router', ...names]), ['down router', 'up router'])
    const incidents = receiver.received.filter(({ json }) => json.event.startsWith('incident.'))
    t.same(
      incidents.map(({ json }) => json.event),
      ['incident.created', 'incident.resolved'],
    )
  },
)

const PARENT_TIMEOUT_MS = 60_000

t.test('A child that goes down alone is reported when its parent has been checked', async t => {
  const [shop] = (await watch(['shop'])) as [string]
  // no slot of the parent answers before its check on request
  const gateway = await createHourly(api, {
    ...{ name: 'gateway', type: 'http', url: `${target.url}gateway`, regions: ['us-east'] },
    ...{ retry_count: 0, timeout_ms: PARENT_TIMEOUT_MS },
  })
  await reach([gateway], 'up')
  await api.put(`/monitors/${shop}/parents`, { parent_ids: [gateway] })
  page('shop', 500)
  const sinceMs = Date.now()
  await check([shop])
  await waitFor(() => received().includes('down shop'), { label: 'the outage of the shop' })
  const [transition] = (await api.get(`/monitors/${shop}/transitions`)).body.data
  const alert = receiver.received.find(({ json }) => json.event === 'monitor.down' && json.data.monitor.id === shop)
  const waitedMs = alert!.atMs - Date.parse(transition.at)
  t.ok(waitedMs < PARENT_TIMEOUT_MS, `sent after ${waitedMs} ms; without its parent’s check it waits for the timeout`)
  t.ok(
    target.requests.some(({ path, atMs }) => path === '/gateway' && atMs >= sinceMs),
    'the parent was checked for it',
  )
  t.same(listReceived(['gateway', 'shop']), ['down shop'])
})

t.test('After maintenance, an outage that continues is sent, and one that has ended is not', async t => {
  const [brief, lasting] = (await watch(['brief', 'lasting'])) as [string, string]
  const now = Date.now()
  const window = {
    title: 'Move',
    monitor_ids: [brief, lasting],
    starts_at: new Date(now - 60_000).toISOString(),
    ends_at: new Date(now + 3_600_000).toISOString(),
  }
  const { id } = (await api.post('/maintenance-windows', window)).body.data
  page('brief', 500)
  page('lasting', 500)
  await check([brief, lasting])
  await reach([brief, lasting], 'down')
  page('brief', 200)
  await check([brief])
  await reach([brief], 'up')
  t.same(listReceived(['brief', 'lasting']), [])
  // by the time that a busy machine reads it, its end may be over
  const end = () => api.put(`/maintenance-windows/${id}`, { ends_at: new Date(Date.now() + 1_500).toISOString() })
  await waitFor(async () => (await end()).status === 200, { label: 'a window that ends soon' })
  await waitFor(() => received().includes('down lasting'), { label: 'the outage that continues' })
  page('lasting', 200)
  await check([lasting])
  await waitFor(() => received().includes('up lasting'), { label: 'its end' })
  t.same(listReceived(['brief', 'lasting']), ['down lasting', 'up lasting'])
  const { data } = (await api.get(`/analytics/uptime?monitor_id=${brief}`)).body
  t.equal(data.seconds.down, 0, 'an outage in maintenance does not count')
  t.ok(data.maintenance_seconds > 1)
})

t.test(
  'In a silence no alert is sent; its end sends the outage that continues, once, and uptime counts it',
  async t => {
    // after the restart, their status counts as current when each region had time for two checks and 20 s
    const [calm, ended] = (await watch(['calm', 'ended'], { timeout_ms: 5_000 })) as [string, string]
    const post = async (id: string, ms: number) => {
      const until = new Date(Date.now() + ms).toISOString()
      const { status, body } = await api.post('/silences', { monitor_ids: [id], until, reason: 'Move' })
      if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`)
      return body.data.id as string
    }
    // by the time that a busy machine reads a short one, its end may be over
    const silence = (id: string, ms: number) => waitFor(() => post(id, ms), { label: 'a silence' })
    const first = await silence(calm, 3_600_000)
    const early = await silence(ended, 3_600_000)
    page('calm', 500)
    page('ended', 500)
    await check([calm, ended])
    await reach([calm, ended], 'down')
    const votes = async () => (await api.get(`/monitors/${ended}/votes`)).body.data
    t.match(await votes(), { alerts_withheld: true, silenced_by: [{ kind: 'silenced', id: early, name: 'Move' }] })
    t.same(listReceived(['ended']), [])
    const incidents = (await api.get(`/incidents?monitor_id=${ended}`)).body.data
    t.match(incidents, [{ status: 'investigating' }], 'its incident is open')

    await picket.addControlPlane()
    await picket.controlPlane.kill9()
    await picket.restartControlPlane()
    t.same(listReceived(['calm', 'ended']), [], 'also after a restart, with two processes')
    // from here on, a short one
    await silence(calm, 2_000)
    await api.delete(`/silences/${first}`)
    t.equal((await api.delete(`/silences/${early}`)).status, 200)
    await waitFor(() => received().includes('down ended'), { label: 'the outage after the silence that was ended' })
    t.match(await votes(), { alerts_withheld: false, silenced_by: [] })
    await waitFor(() => received().includes('down calm'), {
      label: 'the outage after the silence that ended by itself',
    })
    const [sent] = receiver.received.filter(({ json }) => json.data.monitor?.name === 'calm')
    const [active] = (await api.get(`/silences?monitor_id=${calm}`)).body.data
    t.ok(sent!.atMs >= Date.parse(active.until), 'not before its end')
    t.equal(active.status, 'ended')
    const { data } = (await api.get(`/analytics/uptime?monitor_id=${calm}`)).body
    t.ok(data.seconds.down > 1, 'the outage counts')
    t.equal(data.maintenance_seconds, 0)

    for (const name of ['calm', 'ended']) page(name, 200)
    await check([calm, ended])
    await waitFor(() => received().includes('up calm') && received().includes('up ended'), { label: 'the recoveries' })
    t.same(listReceived(['calm']), ['down calm', 'up calm'])
    t.same(listReceived(['ended']), ['down ended', 'up ended'])
  },
)
