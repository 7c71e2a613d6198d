import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { Outcome, type Result } from '../../proto/gen/probe/v1/result.ts'
import { LATE_STREAM } from '../../shared/nats/subjects.ts'
import { assignment, checkSpec, type FleetServer, startFleetServer } from '../support/fleet-server.ts'
import { hourlyId } from '../support/hourly.ts'
import { startNats } from '../support/nats.ts'
import { startProbe } from '../support/probe.ts'
import type { Program } from '../support/processes.ts'
import { collectResults } from '../support/result-collector.ts'
import { startTarget } from '../support/target.ts'
import type { Teardown } from '../support/teardown.ts'
import { isUnbroken } from '../support/unbroken.ts'
import { waitFor } from '../support/wait.ts'

// takes about 30 s

// these tests mostly wait
t.jobs = 4

const EVERY_SECOND = { intervalS: 1 }

/** The time in which NATS restarts and the probe connects again, on a busy machine. */
const LATE_AFTER_MS = 30_000

/** For tests that wait until the silence of a control plane is detected. */
const NOTICED_SOON = { deadAfterMs: 10_000 }

async function startParts(t: Teardown, env: Record<string, string> = {}, timing: Partial<typeof NOTICED_SOON> = {}) {
  const nats = await startNats(t)
  const collector = await collectResults(t, nats.url)
  const target = await startTarget(t)
  const fleet = await startFleetServer(t, { natsUrl: nats.url, ...timing })
  const probe = startProbe(t, fleet.url, env)
  return { nats, collector, target, fleet, probe }
}

async function snapshot(fleet: FleetServer, url: string, monitorIds: string[], revision: number): Promise<void> {
  for (const [i, monitorId] of monitorIds.entries()) {
    const isLast = i === monitorIds.length - 1
    const upserts = [assignment(monitorId, checkSpec(url), EVERY_SECOND)]
    await fleet.assign({ isSnapshot: true, isLast, revision: isLast ? revision : 0, upserts })
  }
}

/** The probe's own port, set by `METRICS_ADDRESS`. */
async function connectToOperations(probe: Program) {
  const origin = `http://127.0.0.1:${(await probe.untilEvent('metrics')).address.port}`
  const ask = (path: string, method = 'GET') => fetch(origin + path, { method })
  const readiness = async () => {
    const answer = await ask('/readyz')
    return JSON.stringify({ code: answer.status, ...((await answer.json()) as object) })
  }
  return {
    ask,
    /** waits for this answer of /readyz and its status */
    becomes(wanted: object) {
      const label = JSON.stringify(wanted)
      return waitFor(async () => (await readiness()) === label, { label })
    },
    /** a metric's value, by its name without the common prefix and with its labels */
    async figure(name: string) {
      const lines = (await (await ask('/metrics')).text()).split('\n')
      const start = `picket_probe_agent_${name} `
      return Number(lines.find(line => line.startsWith(start))?.slice(start.length))
    },
  }
}

const listSlots = (results: Result[]) => results.map(result => result.scheduledAtMs)
/** Distinct, in the order of their slots. */
const bySlot = (results: Result[]) =>
  [...new Map(results.map(result => [result.scheduledAtMs, result])).values()].sort(
    (a, b) => a.scheduledAtMs - b.scheduledAtMs,
  )

/** Waits until the probe has reported spooled results, or none. */
const spoolIs = (what: 'empty' | 'filled', fleet: FleetServer) =>
  waitFor(() => fleet.heartbeats.at(-1)!.spoolBytes > 0 === (what === 'filled'), { label: `the spool ${what}` })

t.test(
  'A silent control plane is detected; the probe continues to check and reconnects with its revision',
  { buffered: true },
  async t => {
    const { fleet, target, collector, probe } = await startParts(t, {}, NOTICED_SOON)
    t.equal((await fleet.hello(1)).lastRevision, 0)
    await snapshot(fleet, target.url, ['m1', 'm2'], 41)
    await probe.untilEvent('connected')
    await collector.atLeast(1, 'm1')

    fleet.setSilent(true)
    await probe.untilEvent('disconnected')
    fleet.setSilent(false)
    t.equal((await fleet.hello(2)).lastRevision, 41)
    t.equal(fleet.hellos[1]!.instanceId, fleet.hellos[0]!.instanceId)

    await snapshot(fleet, target.url, ['m2', 'm3'], 50)
    // the first slot of m3 comes after m1 was dropped
    const [first] = await collector.atLeast(3, 'm3')
    const m1 = await collector.atLeast(1, 'm1')
    t.ok(m1.at(-1)!.scheduledAtMs <= first!.scheduledAtMs, 'what a snapshot does not name is dropped')
    const m2 = await collector.atLeast(1, 'm2')
    t.ok(isUnbroken(m2), 'no slot was left out')
    t.same(listSlots(m2), listSlots(bySlot(m2)), 'none was checked twice')
  },
)

t.test(
  'Probes reconnect to a restarted control plane, and their results count again after its epoch',
  { buffered: true },
  async t => {
    const { fleet, target, nats, collector, probe } = await startParts(t)
    await snapshot(fleet, target.url, ['m1'], 3)
    await probe.untilEvent('connected')
    await fleet.stop()
    await probe.untilEvent('disconnected')
    const next = await startFleetServer(t, { natsUrl: nats.url, port: fleet.port, epoch: 7 })
    t.equal((await next.hello(1)).lastRevision, 3)
    await waitFor(() => next.heartbeats.length > 0, { label: 'a probe that was welcomed' })
    const welcomedAtMs = next.nowMs()
    const newestEpoch = async () => {
      const results = (await collector.results()).filter(result => result.startedAtMs > welcomedAtMs)
      return results.at(-1)?.epoch
    }
    t.equal(await waitFor(newestEpoch, { label: 'a result before the assignments' }), 1)
    const upserts = [assignment('m1', checkSpec(target.url), EVERY_SECOND)]
    await next.assign({ isSnapshot: true, isLast: true, revision: 4, epoch: 7, upserts })
    await waitFor(async () => (await newestEpoch()) === 7, { label: 'a result that counts again' })
  },
)

t.test('A probe serves its readiness, its problems and its metrics on its own port', { buffered: true }, async t => {
  const dataDir = mkdtempSync(join(tmpdir(), 'picket-ready-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  const env = { METRICS_ADDRESS: '127.0.0.1:0', DATA_DIR: dataDir }
  const { nats, fleet, target, collector, probe } = await startParts(t, env, NOTICED_SOON)
  const { ask, becomes, figure } = await connectToOperations(probe)
  const healthy = { fleet: 'ok', nats: 'ok', spool: 'ok' }
  const ready = { code: 200, status: 'ready', dependencies: healthy, problems: [] }
  const notReady = (dependencies: object, ...problems: string[]) => ({
    code: 503,
    status: 'not ready',
    dependencies: { ...healthy, ...dependencies },
    problems,
  })

  await fleet.assign({ upserts: [assignment('m1', checkSpec(target.url), EVERY_SECOND)] })
  await collector.atLeast(2, 'm1')
  await becomes(ready)
  t.equal(await figure('assignments'), 1)
  t.ok((await figure('checks_total{type="http",outcome="up"}')) >= 2)
  await waitFor(async () => (await figure('results_published_total')) >= 2)
  t.same([await figure('fleet_connected'), await figure('nats_connected')], [1, 1])

  t.equal((await ask('/healthz')).status, 200)
  t.equal((await ask('/metrics', 'POST')).status, 405)
  t.equal((await ask('/')).status, 404)

  const spoolDir = join(dataDir, 'spool/eu-west')
  rmSync(spoolDir, { recursive: true })
  writeFileSync(spoolDir, 'in the way')
  await nats.stop()
  const nowhere =
    'results cannot be published or spooled: NATS is unreachable, and the disk rejects writes to the spool'
  await becomes(notReady({ nats: 'away', spool: 'refusing' }, nowhere))
  t.equal(await figure('nats_connected'), 0)
  rmSync(spoolDir)
  mkdirSync(spoolDir)
  await becomes({ ...ready, dependencies: { ...healthy, nats: 'away' } })
  await waitFor(async () => (await figure('spool_results')) > 0, { label: 'results in the spool' })
  await nats.restart()
  await becomes(ready)

  fleet.setSilent(true)
  await becomes(notReady({ fleet: 'away' }, 'not connected to the control plane'))
  t.equal(await figure('fleet_connected'), 0)
  fleet.setSilent(false)
  await becomes(ready)

  target.behave({ kind: 'hold' })
  const seen = target.requests.length
  await waitFor(() => target.requests.length > seen)
  const stopped = probe.stop()
  await becomes(notReady({}, 'the probe is stopping and handing over its monitors'))
  target.behave({ kind: 'answer' })
  target.release()
  t.equal(await stopped, 0)
})

t.test('A probe with a wrong token logs it and retries rarely', { buffered: true }, async t => {
  const fleet = await startFleetServer(t, { token: 'prb_another' })
  const probe = startProbe(t, fleet.url)
  const line = await probe.untilEvent('disconnected')
  t.match(line.msg, /refuses this probe; see reason. Set PROBE_TOKEN/)
  t.ok(line.retry_in_ms >= 30_000)
})

t.test(
  'No result is lost while NATS is unreachable; late ones go to the history, others count',
  { buffered: true },
  async t => {
    const { nats, fleet, target, collector, probe } = await startParts(t, { LATE_AFTER_MS: String(LATE_AFTER_MS) })
    await fleet.assign({ upserts: [assignment('m1', checkSpec(target.url), EVERY_SECOND)] })
    await collector.atLeast(2, 'm1')
    await nats.stop()
    await probe.untilEvent('nats_away')
    const seen = target.requests.length
    await waitFor(() => target.requests.length >= seen + LATE_AFTER_MS / 1_000 + 6)
    await spoolIs('filled', fleet)
    const restartedAtMs = fleet.nowMs()
    await nats.restart()

    await spoolIs('empty', fleet)
    const live = await collector.atLeast(3, 'm1')
    const late = await collector.results(LATE_STREAM)
    t.ok(isUnbroken(bySlot([...live, ...late])), 'every slot is in one of the two streams')
    t.ok(late.length >= 3, `${late.length} results were late`)
    const young = live.filter(result => !late.some(one => one.scheduledAtMs > result.scheduledAtMs))
    t.ok(
      young.some(result => result.scheduledAtMs < restartedAtMs),
      'the young ones count',
    )
    t.same(listSlots(live), listSlots(bySlot(live)), 'nothing is sent twice')
    t.ok(
      listSlots(late).every(slot => !listSlots(live).includes(slot)),
      'what was sent in time is not sent as late again',
    )
    t.equal(fleet.heartbeats.at(-1)!.droppedResults, 0)
  },
)

t.test('A probe that is killed while NATS is unreachable loses no spooled result', { buffered: true }, async t => {
  const { nats, fleet, target, collector, probe } = await startParts(t)
  await fleet.assign({ upserts: [assignment('m1', checkSpec(target.url), EVERY_SECOND)] })
  await collector.atLeast(1, 'm1')
  const [first] = await collector.atLeast(1, 'm1')
  await nats.stop()
  await probe.untilEvent('nats_away')
  const seen = target.requests.length
  await waitFor(() => target.requests.length >= seen + 3)
  const checked = target.requests.length
  await spoolIs('filled', fleet)
  // the result of the last one is written while the next one is under way
  await waitFor(() => target.requests.length >= checked + 2)
  await probe.kill9()
  await nats.restart()
  probe.start()
  await fleet.hello(2)
  const all = await waitFor(
    async () => {
      const found = bySlot([...(await collector.results()), ...(await collector.results(LATE_STREAM))])
      return found.length >= checked ? found : null
    },
    { label: `the results of ${checked} checks` },
  )
  t.ok(isUnbroken(all))
  t.equal(all[0]!.scheduledAtMs, first!.scheduledAtMs)
})

t.test('A probe that is stopped finishes its running checks and sends their results', { buffered: true }, async t => {
  const { fleet, target, collector, probe } = await startParts(t)
  const id = hourlyId('eu-west')
  target.behave({ kind: 'hold' })
  await fleet.assign({
    upserts: [assignment(id, checkSpec(target.url), { intervalS: 3600, checkAtOnce: true, retryCount: 5 })],
  })
  await waitFor(() => target.requests.length === 1)
  const stopped = probe.stop()
  await waitFor(() => fleet.drained(), { label: 'that the control plane knows of it' })
  const beats = fleet.heartbeats.length
  await waitFor(() => fleet.heartbeats.length > beats + 2, { label: 'that the probe has received the answer' })
  target.behave({ kind: 'answer', status: 500 })
  target.release()
  t.equal(await stopped, 0)
  const results = await collector.atLeast(1, id)
  t.same(
    results.map(result => [result.attempt, result.outcome]),
    [[1, Outcome.DOWN]],
  )
  t.equal(target.requests.length, 1, 'no re-check was started')
})

t.test('A probe that is stopped while it reconnects hands its monitors over', { buffered: true }, async t => {
  const { nats, fleet, target, probe } = await startParts(t)
  target.behave({ kind: 'hold' })
  const spec = checkSpec(target.url, { timeoutMs: 60_000 })
  await fleet.assign({ upserts: [assignment(hourlyId('eu-west'), spec, { intervalS: 3600, checkAtOnce: true })] })
  await waitFor(() => target.requests.length === 1)
  await fleet.stop()
  await probe.untilEvent('disconnected')
  const stopped = probe.stop()
  await probe.untilEvent('draining')
  const again = await startFleetServer(t, { natsUrl: nats.url, port: fleet.port })
  await waitFor(() => again.drained(), { label: 'that the control plane knows of it' })
  target.behave({ kind: 'answer' })
  target.release()
  t.equal(await stopped, 0)
})

t.test(
  'A probe that is stopped while NATS is unreachable keeps its results for the next start',
  { buffered: true },
  async t => {
    const { nats, fleet, target, collector, probe } = await startParts(t)
    const id = hourlyId('eu-west')
    await collector.results()
    await fleet.hello(1)
    await nats.stop()
    await fleet.assign({ upserts: [assignment(id, checkSpec(target.url), { intervalS: 3600, checkAtOnce: true })] })
    await waitFor(() => target.requests.length === 1)
    t.equal(await probe.stop(), 0)
    await nats.restart()
    probe.start()
    const late = async () => (await collector.results(LATE_STREAM)).filter(result => result.monitorId === id)
    t.ok(await waitFor(async () => (await late()).length === 1))
  },
)
