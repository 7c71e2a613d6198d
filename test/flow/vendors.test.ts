import t from 'tap'
import { startPicket } from '../support/picket.ts'
import { startReceiver } from '../support/receiver.ts'
import { startTarget } from '../support/target.ts'
import { startVendorSite } from '../support/vendors.ts'
import { waitFor } from '../support/wait.ts'

// takes about 45 s

const [receiver, vendor, slow, shop] = await Promise.all([
  startReceiver(t),
  startVendorSite(t),
  startVendorSite(t),
  startTarget(t),
])
const picket = await startPicket(t, { env: { VENDOR_INTERVAL_SECONDS: '1' } })
await picket.addControlPlane({ VENDOR_INTERVAL_SECONDS: '1' })

const create = async (path: string, body: object): Promise<string> => (await picket.api.post(path, body)).body.data.id
const channel = await create('/alerts/channels', { name: 'Ops', type: 'webhook', config: { url: receiver.url } })
await create('/alerts/project-channels', { alert_channel_id: channel, alert_type: 'dependency_incident' })
const track = (name: string, status_url: string) =>
  create('/dependencies', { name, category: 'cloud', status_url, feed_type: 'statuspage' })
const read = async (path: string) => (await picket.api.get(path)).body.data
const isRead = (id: string) =>
  waitFor(async () => (await read(`/dependencies/${id}`)).last_checked_at, {
    label: 'the first read',
  })
const matchVendor = (name: string) => ({
  match: (hook: { json: { data: { vendor?: { name: string } } } }) => hook.json.data.vendor?.name === name,
})

const id = await track('Acme', vendor.statusUrl)
await isRead(id)

t.test('Two processes read a feed once and announce an incident once', async t => {
  const [startMs, before] = [performance.now(), vendor.reads()]
  await waitFor(() => vendor.reads() >= before + 12, { label: 'twelve reads' })
  const seconds = (performance.now() - startMs) / 1_000
  // two processes that both read would need half the time; some reads may not be counted yet
  t.ok(vendor.reads() - before <= seconds + 4, `${vendor.reads() - before} reads in ${seconds} s`)
  // large enough for the worker thread
  const components = Array.from({ length: 3_000 }, (_, i) => ({ name: `Storage ${i}` }))
  vendor.report({ id: 'o', name: 'Storage is down', components })
  const [hook] = await receiver.waitFor(1, matchVendor('Acme'))
  t.match(hook?.json, {
    event: 'vendor.down',
    data: {
      vendor: { name: 'Acme', category: 'cloud' },
      incident: { title: 'Storage is down', severity: 'major', status: 'investigating', source_url: vendor.statusUrl },
    },
  })
  t.match(await read(`/dependencies/${id}`), { status: 'down', open_incidents: 1, last_error: null })
})

t.test('An incident of a monitor shows the incident of its vendor as a possible cause', async t => {
  shop.behave({ kind: 'answer', status: 500 })
  await create('/monitors', { name: 'Shop', type: 'http', url: shop.url, interval_seconds: 30, retry_count: 0 })
  const incident = await waitFor(async () => (await read('/incidents'))[0], {
    label: 'the incident',
  })
  t.match(await read(`/incidents/${incident.id}`), {
    source: 'automatic',
    possible_causes: [{ dependency_id: id, name: 'Acme', title: 'Storage is down', severity: 'major' }],
  })
})

t.test('A feed that hangs does not delay other feeds and shows an error', async t => {
  slow.behave({ kind: 'hang', after: 'connect' })
  const slowId = await track('Slow', slow.statusUrl)
  await waitFor(() => slow.reads() > 0, { label: 'the first read' })
  vendor.report()
  const hooks = await receiver.waitFor(2, matchVendor('Acme'))
  t.equal(hooks[1]?.json.event, 'vendor.resolved')
  const failed = await waitFor(
    async () => {
      const dependency = await read(`/dependencies/${slowId}`)
      return dependency.last_error && dependency
    },
    { label: 'the error' },
  )
  t.match(failed, { status: 'unknown', open_incidents: 0 })
  t.same(
    receiver.received.map(({ json }) => json.event),
    ['vendor.down', 'vendor.resolved'],
    'no other event is sent',
  )
})
