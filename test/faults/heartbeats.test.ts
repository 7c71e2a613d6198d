import t from 'tap'
import { createPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { countOutageRows, HEARTBEAT, ping, readHeartbeat, runOut } from '../support/heartbeats.ts'
import { startPicket } from '../support/picket.ts'
import { startReceiver } from '../support/receiver.ts'
import { waitFor } from '../support/wait.ts'

// takes about 35 s

const NOWHERE = 'http://127.0.0.1:1/picket'
const picket = await startPicket(t, { regions: [], env: { CLICKHOUSE_URL: NOWHERE, PINGS_PER_MINUTE: '1000000' } })
const db = createPostgres(picket.databaseUrl, 2)
t.teardown(() => db.destroy())

t.test('an outage of Picket does not make a heartbeat overdue', async t => {
  const { data } = (await picket.api.post('/monitors', HEARTBEAT)).body
  await ping(`${picket.origin}${new URL(data.ping_url).pathname}`)
  await picket.controlPlane.kill9()
  await runOut(db, data.id)
  await db.raw(`UPDATE heartbeat_intake SET listening_at = now() - interval '10 minutes'`)
  await picket.restartControlPlane()
  await waitFor(async () => (await readHeartbeat(db, data.id))!.due_at!.getTime() > Date.now() + 3_600_000)
  t.equal((await picket.api.get(`/monitors/${data.id}`)).body.data.status, 'up')
  t.same(await countOutageRows(db, data.id), { downs: 0, ups: 1, incidents: 0, deliveries: 0 })
})

t.test(
  'no ping is lost with two control planes of which one is killed in a burst, without probes, NATS and ClickHouse',
  async t => {
    const receiver = await startReceiver(t)
    const second = await picket.addControlPlane()
    const origins = [picket.origin, `http://127.0.0.1:${(await second.untilEvent('ready')).http_port}`]
    const { api } = picket
    await api.post('/alerts/channels', {
      name: 'Ops',
      type: 'webhook',
      config: { url: receiver.url },
      is_default: true,
    })
    const { monitors } = (await api.post('/monitors/bulk', { monitors: Array.from({ length: 20 }, () => HEARTBEAT) }))
      .body
    const ids: string[] = monitors.map((monitor: { id: string }) => monitor.id)
    const getPingPath = (monitor: { ping_url: string }) => new URL(monitor.ping_url).pathname
    const paths: string[] = monitors.map(getPingPath)
    await picket.nats.kill9()

    const acknowledged = ids.map(() => 0)
    let isOver = false
    const senders = Array.from({ length: 32 }, async (_, sender) => {
      for (let i = sender; !isOver; i++) {
        const monitor = i % ids.length
        const answer = await ping(`${origins[i % origins.length]}${paths[monitor]}`).catch(() => null)
        if (answer?.status === 200) acknowledged[monitor]!++
      }
    })
    const sum = () => acknowledged.reduce((all, one) => all + one, 0)
    await waitFor(() => sum() > 500)
    await second.kill9()
    const atDeath = sum()
    await waitFor(() => sum() > atDeath + 500)
    isOver = true
    await Promise.all(senders)

    for (const [i, id] of ids.entries()) {
      const kept = (await readHeartbeat(db, id))!.pings
      t.ok(kept >= acknowledged[i]!, `${kept} kept of ${acknowledged[i]} acknowledged`)
      t.ok(kept <= acknowledged[i]! + 32, 'and no more than were on their way')
    }

    const [failing, late] = ids as [string, string]
    await Promise.all(Array.from({ length: 8 }, () => ping(`${picket.origin}${paths[0]}`, '/fail')))
    await runOut(db, late)
    await receiver.waitFor(2)
    for (const id of [failing, late]) {
      t.same(await countOutageRows(db, id), { downs: 1, ups: 1, incidents: 1, deliveries: 1 }, id)
    }
    const events = receiver.received.map(({ json }) => [json.event, json.data.check.region, json.data.check.error])
    t.same(events.sort(), [
      ['monitor.down', 'heartbeat', 'no success within 1 hour and a grace period of 1 minute'],
      ['monitor.down', 'heartbeat', 'the job reported a failure'],
    ])
    t.match((await api.get(`/monitors/${failing}/checks`)).body.data[0], { status: 'down', region: 'heartbeat' })
    await Promise.all([0, 1].map(i => ping(`${picket.origin}${paths[i]}`)))
    const up = await receiver.waitFor(2, { match: ({ json }) => json.event === 'monitor.up' })
    t.equal(up.length, 2)
    t.equal((await api.get(`/monitors/${late}`)).body.data.status, 'up')
  },
)
