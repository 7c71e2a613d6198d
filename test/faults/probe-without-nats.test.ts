import t from 'tap'
import { IDENTIFIED } from '../support/client-process.ts'
import { startNats } from '../support/nats.ts'
import { startPicket } from '../support/picket.ts'
import { startTargetByProbe } from '../support/target-by-probe.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'
import { waitFor } from '../support/wait.ts'

// takes about 60 s

const nats = await startNats(t)
const relay = await startTcpRelay(t, nats.url)
const common = { NATS_URL: nats.url, NATS_OPERATOR_SEED: '' }
const picket = await startPicket(t, {
  regions: ['us-east'],
  env: { ...common, PROBE_NATS_URL: relay.url },
  probeEnv: IDENTIFIED,
})
const { api } = picket
const other = await picket.addControlPlane({ ...common, PROBE_NATS_URL: nats.url, ROLES: 'fleet' })
const { grpc_port } = await other.untilEvent('ready')
const [first] = picket.probes
const second = await picket.addProbe('us-east', { FLEET_URL: `127.0.0.1:${grpc_port}` })
const target = await startTargetByProbe(t)

t.test('A probe that alone has lost NATS loses its monitors to another one, and a new outage is detected', async t => {
  // enough that each of them has some
  const pages = Array.from({ length: 16 }, (_, i) => `page-${i}`)
  const ids: string[] = []
  // one after another: a busy machine refuses some of many at once
  for (const page of pages) {
    const body = { name: page, type: 'http', url: target.url(page), regions: ['us-east'], interval_seconds: 30 }
    ids.push((await api.post('/monitors', body)).body.data.id)
  }
  const statuses = () => Promise.all(ids.map(async id => (await api.get(`/monitors/${id}`)).body.data.status))
  await waitFor(async () => (await statuses()).every(status => status === 'up'), { label: 'all up' })
  const ofFirst = pages.filter(page => target.seen.some(one => one.path === `/${page}` && one.pid === first!.pid))
  t.ok(ofFirst.length > 0, 'the first probe has work')

  await relay.cut()
  for (const page of ofFirst) target.fail(page, 'all')
  const broken = ids.filter((_, i) => ofFirst.includes(pages[i]!))
  const areDown = async () =>
    (await Promise.all(broken.map(async id => (await api.get(`/monitors/${id}`)).body.data.status))).every(
      status => status === 'down',
    )
  await waitFor(areDown, { label: 'the outages of its monitors' })
  t.ok(
    ofFirst.every(page => target.seen.some(one => one.path === `/${page}` && one.pid === second.pid)),
    'the other probe checks them now',
  )

  await relay.restore()
  await waitFor(
    async () => {
      const seen = target.seen.length
      await waitFor(() => target.seen.length > seen, { label: 'another check' })
      return target.seen.slice(seen).some(({ pid }) => pid === first!.pid)
    },
    { label: 'that it works again' },
  )
})
