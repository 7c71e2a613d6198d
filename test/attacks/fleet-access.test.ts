import t from 'tap'
import { generateOperatorSeed, parseOperatorSeed } from '../../control-plane/foundation/platform/nats/operator.ts'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { computeAccessIntervalMs } from '../../control-plane/monitoring/fleet/probes/access-worker.ts'
import { revokeProbe } from '../../control-plane/monitoring/fleet/probes/enrolment-actions.ts'
import { FLEET_TIMING } from '../../control-plane/monitoring/fleet/timing.ts'
import { LATE_STREAM } from '../../shared/nats/subjects.ts'
import { createTestFleet, PATIENT } from '../support/fleet.ts'
import { startProbe } from '../support/probe.ts'
import { collectResults } from '../support/result-collector.ts'
import { countRounds, readMetric } from '../support/rounds.ts'
import { startTarget } from '../support/target.ts'
import type { Teardown } from '../support/teardown.ts'
import { isUnbroken } from '../support/unbroken.ts'
import { insertMonitor } from '../support/verdict.ts'
import { HANG_MS, waitFor } from '../support/wait.ts'

// takes about 40 s

/** Credentials are renewed after half of this time, which leaves a busy machine ten seconds. */
const CREDENTIALS_MS = 20_000

/** A fleet process and a real probe that checks one monitor each second, NATS in operator mode. */
async function setUp(t: Teardown, credentialsMs: number) {
  const operator = parseOperatorSeed(generateOperatorSeed())
  const [fleet, target] = await Promise.all([createTestFleet(t, undefined, operator), startTarget(t)])
  const collector = await collectResults(t, fleet.nats.url, operator)
  const monitorId = await insertMonitor(fleet.db, fleet.projectId, { regions: ['eu-west'], intervalSeconds: 1 })
  await execute(fleet.db, 'UPDATE monitors SET url = ? WHERE id = ?', [target.url, monitorId])
  const { port, metrics } = await fleet.start({ ...PATIENT, credentialsLifetimeMs: credentialsMs })
  const probe = startProbe(t, `127.0.0.1:${port}`, { PROBE_TOKEN: await fleet.token() })
  const { probe_id: probeId } = await probe.untilEvent('connected')
  return { fleet, collector, monitorId, probe, probeId: String(probeId), target, metrics }
}

t.test('NATS credentials are renewed before they expire, and no result is lost or late', async t => {
  const { collector, monitorId, probe, target } = await setUp(t, CREDENTIALS_MS)
  const seconds = (2 * CREDENTIALS_MS) / 1_000
  const results = await collector.atLeast(1 + seconds, monitorId)
  // the first check is made immediately, outside the slots
  t.ok(isUnbroken(results.slice(1)), 'each second has its result, for twice the lifetime of a credential')
  t.same(await collector.results(LATE_STREAM), [])
  t.same(
    probe.lines.filter(line => line.event === 'nats_away'),
    [],
    'NATS was reachable all the time',
  )
  t.ok(target.requests.length >= results.length)
})

/** The number of rounds of the loop that disconnects revoked probes. */
const MAX_ROUNDS = 2

t.test('A revoked probe is disconnected from gRPC and from NATS in the next two rounds of the fleet', async t => {
  const { fleet, collector, monitorId, probe, probeId, target, metrics } = await setUp(t, 3_600_000)
  await collector.atLeast(1, monitorId)
  const rounds = () => countRounds(metrics, 'fleet_access', 'ok')
  const sessions = () => readMetric(metrics, 'picket_fleet_probes{region="eu-west"}')
  const before = await rounds()
  const startedMs = Date.now()
  await revokeProbe(fleet.db, probeId)
  // a test in the process of the fleet sees every round
  await waitFor(async () => (await sessions()) === 0, { label: 'the end of the session', everyMs: 10 })
  const after = (await rounds()) - before
  t.ok(after <= MAX_ROUNDS, `disconnected from gRPC after ${after} rounds`)
  t.ok(MAX_ROUNDS * computeAccessIntervalMs(FLEET_TIMING) < 5_000, 'which are less than 5 s in production')
  const took = async (event: string) => Date.parse((await probe.untilEvent(event)).time) - startedMs
  const [grpcMs, natsMs] = await Promise.all([took('disconnected'), took('nats_away')])
  t.comment(`disconnected after ${grpcMs} ms from gRPC and ${natsMs} ms from NATS`)
  t.ok(grpcMs < HANG_MS && natsMs < HANG_MS, 'long before the end of its credentials')
  t.match(
    probe.lines.find(line => line.event === 'disconnected'),
    { reason: 'this probe was revoked' },
  )
  await waitFor(async () => !(await fleet.epoch()).probeIds.includes(probeId), {
    label: 'that it has no work',
  })
  const sql = `SELECT updated_at AS at FROM region_epochs WHERE region = 'eu-west'`
  const [{ at } = { at: new Date(0) }] = await query<{ at: Date }>(fleet.db, sql)
  t.ok(at.getTime() - startedMs < PATIENT.deadAfterMs, 'its work moves before the time after which it would be dead')
  const { length } = await collector.results()
  const checks = target.requests.length
  await waitFor(() => target.requests.length >= checks + 3, { label: 'checks that it continues' })
  t.equal((await collector.results()).length, length, 'and none of its results arrives')

  await probe.stop()
  probe.start()
  t.match(await probe.untilEvent('disconnected'), { reason: /this probe was revoked/ })
  await probe.stop()
  probe.start({ PROBE_TOKEN: await fleet.token() })
  t.not((await probe.untilEvent('connected')).probe_id, probeId, 'a new token admits it as another probe')
})
