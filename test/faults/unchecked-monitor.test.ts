import t from 'tap'
import { createPostgres, execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startPicket } from '../support/picket.ts'
import { startReceiver } from '../support/receiver.ts'
import { startTarget } from '../support/target.ts'
import { waitFor } from '../support/wait.ts'

// takes about 180 s

t.setTimeout(900_000)
const INTERVAL_S = 12

const picket = await startPicket(t)
const { api } = picket
const [probe] = picket.probes
const target = await startTarget(t)
const receiver = await startReceiver(t)
const hook = { name: 'Hook', type: 'webhook', config: { url: receiver.url }, is_default: true }
await api.post('/alerts/channels', hook)
const body = { name: 'Shop', type: 'http', url: target.url, regions: ['us-east'], interval_seconds: 30 }
const { id } = (await api.post('/monitors', { ...body, timeout_ms: 4_000, retry_count: 1 })).body.data
const page = (await api.post('/status-pages', { name: 'Shop', slug: 'shop' })).body.data
await api.put(`/status-pages/${page.id}`, { is_published: true })
await api.post(`/status-pages/${page.id}/components`, { name: 'Shop', monitor_id: id })
const badge = async () => (await fetch(`${picket.origin}/status/shop/badge.svg`)).text()
const db = createPostgres(picket.databaseUrl, 2)
t.teardown(() => db.destroy())
// shorter than any plan allows
await execute(db, 'UPDATE monitors SET interval_seconds = ?, config_version = config_version + 1', [INTERVAL_S])

const monitor = async () => (await api.get(`/monitors/${id}`)).body.data
const is = (status: string | null) =>
  waitFor(async () => (await monitor()).status === status, { label: `status ${status}` })
const received = () =>
  receiver.received.flatMap(({ json }) => (json.event.startsWith('monitor.') ? (json.event as string) : []))

await is('up')

t.test(
  'a monitor whose only probe is killed has no status after three intervals, and its owner is notified',
  async t => {
    await probe!.kill9()
    await is(null)
    await waitFor(() => received().length === 1, { label: 'the event' })
    t.same(received(), ['monitor.unchecked'])
    const { data } = receiver.received[0]!.json
    t.equal(data.monitor.status, null)
    t.match(data.check.error, /^no check has counted since 20/)
    const { configuration_issues } = await monitor()
    t.match(configuration_issues, [/^no_probe: no live probe in us-east/, /^unchecked: no check has counted since 20/])
    const [lost] = (await api.get(`/monitors/${id}/transitions`)).body.data
    t.match(lost, { from: 'up', to: null })
    t.match(lost.summary, /^Not checked: no check has counted since 20/)
    const [last] = (await api.get(`/monitors/${id}/checks?per_page=1`)).body.data
    const afterMs = Date.parse(lost.at) - Date.parse(last.scheduled_at)
    t.ok(
      afterMs >= 0 && afterMs < 60_000,
      `the time since the last check is unknown: from ${afterMs} ms after its slot`,
    )
    const blindS = (Date.parse(lost.created_at) - Date.parse(lost.at)) / 1_000
    t.comment(`the status was lost ${blindS} s after the last check`)
    t.ok(blindS >= 3 * INTERVAL_S)
    const uptime = (await api.get(`/analytics/uptime?monitor_id=${id}`)).body.data
    t.equal(uptime.intervals.at(-1).status, 'unknown')
    t.ok(uptime.seconds.unknown >= blindS - 1, JSON.stringify(uptime.seconds))
    await waitFor(async () => (await badge()).includes('unknown'), { label: 'the badge of its status page' })
  },
)

t.test('a monitor that is up as before when the probe is back causes no alert', async t => {
  probe!.start()
  await is('up')
  await waitFor(async () => (await monitor()).configuration_issues.length === 0, { label: 'no issues any more' })
  const [seen] = (await api.get(`/monitors/${id}/transitions`)).body.data
  t.match(seen, { from: null, to: 'up' })
  await waitFor(async () => (await badge()).includes('operational'), { label: 'the badge of its status page' })
})

t.test('an outage stays open when the probe is killed, and ends with the first success afterwards', async t => {
  target.behave({ kind: 'answer', status: 500 })
  await is('down')
  const incident = async () => (await api.get('/incidents')).body.data[0]
  t.not((await incident()).status, 'resolved')
  await probe!.kill9()
  await is(null)
  t.not((await incident()).status, 'resolved')
  target.behave({ kind: 'answer', status: 200 })
  probe!.start()
  await is('up')
  t.equal((await incident()).status, 'resolved')
  await waitFor(() => received().includes('monitor.up'), { label: 'monitor.up' })
  t.same(received(), ['monitor.unchecked', 'monitor.down', 'monitor.unchecked', 'monitor.up'])
})
