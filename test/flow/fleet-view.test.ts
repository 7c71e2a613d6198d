import t from 'tap'
import { revokeProbe } from '../../control-plane/monitoring/fleet/probes/enrolment-actions.ts'
import { probeRoutes } from '../../control-plane/monitoring/fleet/probes/probe-routes.ts'
import { connectProbe, createTestFleet, PATIENT, type TestProbe } from '../support/fleet.ts'
import { makeOperator } from '../support/operator.ts'
import { createResourceApi } from '../support/resource-api.ts'
import { insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const api = await createResourceApi(t, (app, { db }) => probeRoutes(app, { db }))
const operator = await makeOperator(api.db, await api.account())
const fleet = await createTestFleet(t, api)
const [one, two] = [await fleet.start(PATIENT), await fleet.start(PATIENT)]
const token = await fleet.token('eu-west')
await insertMonitors(fleet.db, fleet.projectId, 40, { regions: ['eu-west', 'us-west'] })

// biome-ignore lint/suspicious/noExplicitAny: answers of the API
const read = async (path: string): Promise<any[]> => (await operator.call(`GET ${path}`)).body.data
const probes = async () => new Map((await read('/probes')).map(probe => [probe.name, probe]))

const HEARTBEAT = { running: 7, waiting: 2, loopLagMs: 12, connectivityOk: true, spoolBytes: 4_096, droppedResults: 5 }
const NEWER = { runningLimit: 1_000, spoolResults: 31, clockOffsetMs: -3_600_000, startDelayMs: 9 }

const old = connectProbe(t, one.port, token, { name: 'old' })
await old.probeId()
const newer = connectProbe(t, two.port, token, { name: 'newer', version: '2.0.0', beatMs: 0 })
let seq = 0
const beating = setInterval(
  () => newer.send({ $case: 'heartbeat', value: { seq: ++seq, ...HEARTBEAT, ...NEWER } }),
  100,
)
t.teardown(() => clearInterval(beating))
await waitFor(() => old.assigned.size + newer.assigned.size === 40 && newer.assigned.size > 0, { label: 'a split' })

t.test('GET /probes shows the health of each probe, connected to any process', async t => {
  const shown = await waitFor(
    async () => {
      const all = await probes()
      const sum = [...all.values()].reduce((total, { load }) => total + load.assignments, 0)
      const isReported = ([name, { assigned }]: [string, TestProbe]) => all.get(name).load.assignments === assigned.size
      // each has a share, so every listed probe has sent a heartbeat since
      return sum === 40 && Object.entries({ old, newer }).every(isReported) ? all : undefined
    },
    { label: 'the assignments of each' },
  )
  const probe = shown.get('newer')
  t.match(probe, {
    id: await newer.probeId(),
    region: 'eu-west',
    version: '2.0.0',
    capabilities: ['http', 'keyword', 'tcp'],
    live: true,
    connected_since: /^2/,
    last_heartbeat_at: /^2/,
    load: { running: 7, limit: 1_000, waiting: 2, assignments: newer.assigned.size, start_delay_ms: 9 },
    loop_lag_ms: 12,
    spool: { results: 31, bytes: 4_096, dropped: 5 },
    clock_offset_ms: -3_600_000,
    connectivity_ok: true,
    draining: null,
    drained_until: null,
    revoked: false,
  })
  t.match(shown.get('old'), { live: true, load: { limit: null }, spool: { results: null }, clock_offset_ms: null })
  const isMeasured = async (line: RegExp) => line.test((await two.metrics.render()).text)
  await waitFor(() => isMeasured(/picket_probe_start_delay_seconds\{region="eu-west"\} 0.009/), { label: 'the delay' })
  await waitFor(() => isMeasured(/picket_probe_spool_results\{region="eu-west"\} 31/), { label: 'the spool' })
})

t.test('GET /regions shows live probes, monitors, and since when a region has no probe', async t => {
  const regions = await waitFor(
    async () => {
      const all = new Map((await read('/regions')).map(region => [region.region, region]))
      return all.get('us-west').monitors.unassigned === 40 ? all : null
    },
    { label: 'that the fleet has counted' },
  )
  t.match(regions.get('eu-west'), {
    name: 'EU West',
    is_live: true,
    live_probes: 2,
    no_live_probe_since: null,
    epoch: Number,
    monitors: { assigned: 40, unassigned: 0 },
    worst_loop_lag_ms: 12,
  })
  t.match(regions.get('us-west'), {
    live_probes: 0,
    no_live_probe_since: /^2/,
    last_heartbeat_at: null,
    monitors: { assigned: 0, unassigned: 40 },
  })
  t.match(regions.get('eu-central'), { live_probes: 0, no_live_probe_since: null, epoch: 0 })
})

t.test('A probe that is draining or revoked gets no work and has a reason', async t => {
  old.send({ $case: 'draining', value: {} })
  await waitFor(async () => {
    const probe = (await probes()).get('old')
    return probe.draining === 'stopping' && !probe.live && probe.load.assignments === 0 && probe.connected_since
  })
  await revokeProbe(fleet.db, await newer.probeId())
  await waitFor(async () => {
    const probe = (await probes()).get('newer')
    return probe.revoked && !probe.live && probe.connected_since === null
  })
  const region = await waitFor(
    async () => (await read('/regions')).find(one => one.region === 'eu-west' && one.live_probes === 0),
    { label: 'a region without a probe' },
  )
  t.match(region, { live_probes: 0, no_live_probe_since: /^2/, last_heartbeat_at: /^2/ })
})

t.test('Lists of the fleet have pages and a filter by region', async t => {
  t.match((await operator.call('GET /probes?per_page=1&page=2')).body, {
    data: [{ name: 'old' }],
    meta: { page: 2, per_page: 1, total: 2, total_pages: 2 },
  })
  t.match((await operator.call('GET /probes?region=us-west')).body, { data: [], meta: { total: 0 } })
  t.match(await operator.call('GET /probes?region=mars'), { status: 400 })
  t.match((await operator.call('GET /regions?per_page=4&page=2')).body, {
    data: [{ region: 'ap-southeast' }, { region: 'ap-northeast' }],
    meta: { total: 6 },
  })
})

t.test('GET /regions shows every key which regions have live probes, and only the operator their load', async t => {
  const other = await (await api.account()).callWith('read')
  const regions = (await other('GET /regions')).body.data
  t.same(
    regions.map((one: object) => Object.keys(one)),
    regions.map(() => ['region', 'name', 'is_live', 'live_probes', 'no_live_probe_since']),
  )
  t.match(regions[2], { region: 'eu-west', name: 'EU West', is_live: false, live_probes: 0, no_live_probe_since: /^2/ })
  t.match(await other('GET /regions?region=eu-west'), { status: 400 })
  const text = JSON.stringify(regions)
  for (const secret of ['old', 'newer', await old.probeId(), await newer.probeId()]) t.notOk(text.includes(secret))
})

t.test('A key of another project than the operator’s is refused with every scope', async t => {
  const other = await api.account()
  const refusal = { code: 'insufficient_scope', message: /needs an API key of the operator project/ }
  for (const path of ['/probes', '/probes?page=0']) {
    t.match(await other.call(`GET ${path}`), { status: 403, body: { error: refusal } })
  }
  const reader = await operator.callWith('read')
  t.equal((await reader('GET /probes')).status, 200)
})
