import t from 'tap'
import { connectNats } from '../../control-plane/foundation/platform/nats/client.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { computePartition, resultSubject } from '../../shared/nats/subjects.ts'
import { startNats } from '../support/nats.ts'
import { startNatsTimeProxy } from '../support/nats-time-proxy.ts'
import { startPicket } from '../support/picket.ts'
import { startPrometheus } from '../support/prometheus.ts'
import { startTarget } from '../support/target.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'
import { createNextResult, publish } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

// takes about 100 s

const REGION = 'us-east'
const INTERVAL_S = 2
const MONITORS = 5
const TEN_MINUTES_MS = 600_000

const nats = await startNats(t)
const [clock, wayOfProbe, target] = await Promise.all([
  startNatsTimeProxy(t, nats.url),
  startTcpRelay(t, nats.url),
  startTarget(t),
])
const common = { NATS_URL: clock.url, NATS_OPERATOR_SEED: '' }
const picket = await startPicket(t, {
  regions: [REGION],
  env: { ...common, PROBE_NATS_URL: wayOfProbe.url, ROLES: 'api,fleet,record,deliver,schedule' },
})
const verdict = await picket.addControlPlane({ ROLES: 'verdict' })
const verdictPort = String((await verdict.untilEvent('ready')).operator_port)
const db = createPostgres(picket.databaseUrl, 1)
t.teardown(() => db.destroy())

const body = { name: 'Shop', type: 'http', url: target.url, regions: [REGION], interval_seconds: 30 }
const ids: string[] = []
for (let i = 0; i < MONITORS; i++) ids.push((await picket.api.post('/monitors', body)).body.data.id)
// shorter than any plan allows, so that results arrive continuously
await execute(db, 'UPDATE monitors SET interval_seconds = ?, config_version = config_version + 1', [INTERVAL_S])
const metric = async (name: RegExp) =>
  Number(name.exec(await (await fetch(`http://127.0.0.1:${verdictPort}/metrics`)).text())?.[1] ?? 0)
const counted = () => metric(/^picket_verdict_region_results_total\{region="us-east",kind="counted"\} (\d+)/m)
await waitFor(async () => (await counted()) > MONITORS, { label: 'results are counted', everyMs: 200 })

const prometheus = await startPrometheus(t, [new URL(picket.operator).host, `127.0.0.1:${verdictPort}`])

/** Until each has fired since the call; one that reports a single event may end before another begins. */
const untilFiring = (...alerts: string[]) => {
  const fired = new Set<string>()
  const condition = async () => {
    for (const alert of await prometheus.firing()) fired.add(alert)
    return alerts.every(alert => fired.has(alert))
  }
  return waitFor(condition, { everyMs: 500, label: () => `${alerts} fire, and not ${[...fired]} alone` })
}
const untilQuiet = () => {
  let last: string[] = []
  const condition = async () => {
    last = await prometheus.firing()
    return last.length === 0
  }
  return waitFor(condition, { everyMs: 500, label: () => `${last} end` })
}

t.test('No alert fires in a healthy installation', async () => {
  // at one evaluation a second, longer than any alert's `for`
  await waitFor(async () => (await prometheus.samples('picket_verdict_partitions_owned')) >= 8, { everyMs: 500 })
  // on a busy machine the shortened rules may see a loop hang for seconds; a real alert does not end
  await untilQuiet()
})

t.test(
  'A region that cannot publish, a wrong clock, results from the future and unreadable messages raise alerts, which end with the faults',
  async t => {
    const forger = await connectNats(nats.url, 'a probe that goes by no clock')
    t.teardown(() => forger.close())
    const [monitorId = ''] = ids
    const fromTheFuture = Date.now() + 24 * 3_600_000
    const sql = 'SELECT epoch, probe_ids[1] AS "probeId" FROM region_epochs WHERE region = ?'
    const [{ epoch, probeId }] = (await query(db, sql, [REGION])) as [{ epoch: number; probeId: string }]
    const forged = Array.from({ length: 10 }, (_, i) =>
      createNextResult(monitorId, {
        up: true,
        configVersion: 2,
        epoch,
        scheduledAtMs: fromTheFuture + i,
        startedAtMs: fromTheFuture + i,
      }),
    )
    await publish(forger, forged, REGION, probeId)
    await publish(forger, [createNextResult(monitorId, { up: false, epoch: 4_294_967_295 })], REGION, probeId)
    await publish(
      forger,
      Array.from({ length: 50 }, () => createNextResult(monitorId, { up: false, epoch })),
      REGION,
      'a probe without work',
    )
    await forger.js.publish(resultSubject(computePartition(monitorId), REGION), Uint8Array.of(255, 255, 255))
    await untilFiring(
      ...['PicketResultsRefused', 'PicketResultsUnreadable', 'PicketResultsUnrecordable'],
      ...['PicketEpochsForged', 'PicketResultsOfOtherProbes'],
    )
    t.pass('refused results and unreadable messages are reported')

    await wayOfProbe.cut()
    clock.setAhead(TEN_MINUTES_MS)
    await untilFiring('PicketRegionCannotPublish', 'PicketClocksDisagree', 'PicketClockSet')
    t.pass('the region that cannot publish and the wrong clock are reported')

    await wayOfProbe.restore()
    clock.setAhead(0)
    await untilQuiet()
    t.pass('no alert is left')
  },
)

t.test('Results that arrive without a verdict process raise an alert until one runs', async t => {
  await verdict.kill9()
  await untilFiring('PicketPartitionsWithoutOwner', 'PicketNothingDecided', 'PicketProcessDown')
  t.pass('it is reported')
  verdict.start({ OPERATOR_PORT: verdictPort })
  await untilQuiet()
  t.pass('no alert is left')
})
