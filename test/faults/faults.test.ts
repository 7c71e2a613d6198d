import t, { type Test } from 'tap'
import { computeSlots } from '../../shared/checks/slots.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { type Picket, startPicket } from '../support/picket.ts'
import { readReadiness } from '../support/readiness.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { assertRehearsed } from '../support/rehearsal.ts'
import { startTarget, type Target } from '../support/target.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'
import { findUncheckedSlots } from '../support/unchecked-slots.ts'
import { waitFor } from '../support/wait.ts'

// takes about 110 s
// they wait more than they work
t.jobs = 5

const REGIONS = ['us-east', 'eu-west']
type Watch = { picket: Picket; target: Target; receiver: Receiver; id: string }

/** A healthy monitor in two regions with a webhook, after its first verdict. */
async function startWatch(t: Test, retryCount: number, env: Record<string, string> = {}): Promise<Watch> {
  const [picket, target, receiver] = await Promise.all([
    startPicket(t, { regions: REGIONS, env }),
    startTarget(t),
    startReceiver(t),
  ])
  const config = { url: receiver.url }
  await picket.api.post('/alerts/channels', { name: 'Ops', type: 'webhook', config, is_default: true })
  const monitor = { name: 'Shop', type: 'http', url: target.url, interval_seconds: 30, retry_count: retryCount }
  const { body } = await picket.api.post('/monitors', { ...monitor, regions: REGIONS })
  const watch = { picket, target, receiver, id: body.data.id }
  await until(watch, 'up')
  return watch
}

const until = ({ picket, id }: Watch, status: string) =>
  waitFor(async () => (await picket.api.get(`/monitors/${id}`)).body.data?.status === status, {
    label: `status ${status}`,
  })

/** Breaks the target, requests a check, and resolves when the first attempts have failed. */
async function breakTarget({ picket, target, id }: Watch): Promise<void> {
  target.behave({ kind: 'answer', status: 503 })
  const before = target.requests.length
  picket.api.post(`/monitors/${id}/check`).catch(() => {})
  await waitFor(() => target.requests.length > before, { label: 'a failing check' })
}

async function assertOneOutage(t: Test, { picket, receiver, id }: Watch): Promise<void> {
  const [down] = await receiver.waitFor(1)
  t.equal(down?.json.event, 'monitor.down')
  const transitions = (await picket.api.get(`/monitors/${id}/transitions`)).body.data
  t.same(
    transitions.map((one: { to: string }) => one.to),
    ['down', 'up'],
  )
  t.equal((await picket.api.get('/incidents')).body.data.length, 1)
  const log = (await picket.api.get('/alerts/log')).body.data
  t.same(
    log.map((entry: { event: string }) => entry.event),
    ['monitor.down'],
  )
  t.same(new Set(receiver.received.map(one => one.json.delivery_id)), new Set([log[0].delivery_id]))
}

t.test(
  'A control plane killed during a decision causes one transition and one delivery id',
  { buffered: true },
  async t => {
    const watch = await startWatch(t, 2)
    await breakTarget(watch)
    await watch.picket.controlPlane.kill9()
    await watch.picket.restartControlPlane()
    await until(watch, 'down')
    await assertOneOutage(t, watch)
    await assertRehearsed(t, watch.picket.api, watch.id)
  },
)

t.test('A webhook in flight when the control plane is killed is repeated with the same id and bytes', async t => {
  const watch = await startWatch(t, 0)
  watch.receiver.always('hang')
  await breakTarget(watch)
  await watch.receiver.waitFor(1)
  await watch.picket.controlPlane.kill9()
  watch.receiver.always(200)
  await watch.picket.restartControlPlane()
  const [first, second] = await watch.receiver.waitFor(2)
  t.equal(second?.rawBody, first?.rawBody)
  await assertOneOutage(t, watch)
})

t.test('A probe killed during a decision causes one transition and one delivery id', { buffered: true }, async t => {
  const watch = await startWatch(t, 2)
  await breakTarget(watch)
  const probe = watch.picket.probes[0]!
  await probe.kill9()
  probe.start()
  await until(watch, 'down')
  await assertOneOutage(t, watch)
})

t.test(
  'Without ClickHouse verdicts and webhooks continue, and the history is complete afterwards',
  { buffered: true },
  async t => {
    const { url } = await createClickhouseDatabase(t)
    const relay = await startTcpRelay(t, url)
    const watch = await startWatch(t, 0, { CLICKHOUSE_URL: relay.url })
    const { api, operator } = watch.picket
    await waitFor(async () => (await api.get(`/monitors/${watch.id}/checks`)).body.meta?.total >= 2, {
      label: 'history',
    })

    await relay.cut()
    const readyz = await readReadiness(operator)
    t.equal(readyz.status, 200, 'it does its work without the history, and a new version can be rolled out')
    t.match(readyz.body, { status: 'ready', dependencies: { clickhouse: 'away', postgres: 'ok' } })
    t.equal((await api.get(`/monitors/${watch.id}/checks`)).status, 503)
    t.equal((await api.get(`/monitors/${watch.id}`)).status, 200)
    await breakTarget(watch)
    await until(watch, 'down')
    await assertOneOutage(t, watch)
    const requests = watch.target.requests.length

    await relay.restore()
    await waitFor(async () => (await api.get(`/monitors/${watch.id}/checks`)).body.meta?.total >= requests, {
      label: 'every check in the history',
    })
    t.ok(await assertRehearsed(t, api, watch.id), 'the history has everything that the verdict knew')
  },
)

t.test('After NATS was down for half a minute, no result is lost and no alert is late', { buffered: true }, async t => {
  const watch = await startWatch(t, 0)
  const { api, nats } = watch.picket
  await nats.kill9()
  const before = watch.target.requests.length
  await waitFor(() => watch.target.requests.length >= before + 2 * REGIONS.length, {
    label: 'checks that go on while NATS is away',
  })
  await nats.restart()
  const checks = watch.target.requests.length
  await waitFor(async () => (await api.get(`/monitors/${watch.id}/checks`)).body.meta?.total >= checks, {
    label: 'every check in the history',
  })
  t.equal((await api.get(`/monitors/${watch.id}`)).body.data.status, 'up')
  t.equal(watch.receiver.received.length, 0)
  // a late result is recorded by another consumer than a new one, so the new one can be in the history before it
  let unchecked: string[] = []
  await waitFor(
    async () => {
      const usEast = (await api.get(`/monitors/${watch.id}/checks?per_page=100&region=us-east`)).body.data
      const slots = findUncheckedSlots(computeSlots(watch.id, 'us-east', 30), usEast)
      unchecked = slots.map(ms => new Date(ms).toISOString())
      return unchecked.length === 0
    },
    { label: () => `every slot in the history, not without ${unchecked}` },
  )
})
