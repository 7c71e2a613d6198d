import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { newId } from '../../control-plane/foundation/platform/ids.ts'
import { createPostgres, execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { encryptAuth, encryptHeaders } from '../../control-plane/monitoring/monitors/settings/encryption.ts'
import type { RunDone, RunNow } from '../../proto/gen/probe/v1/fleet.ts'
import { FailureSource, Outcome, type Result, ResultBatch, Trigger } from '../../shared/checks/result.ts'
import { computePartition, WITNESS_SUBJECT, type WitnessHint, witnessSubject } from '../../shared/nats/subjects.ts'
import { createDatabase } from '../support/database.ts'
import { all, connectProbe, createTestFleet, PATIENT } from '../support/fleet.ts'
import { resultOfRun } from '../support/on-demand.ts'
import { readMetric } from '../support/rounds.ts'
import { insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const buildResult = (run: RunNow, changes: Partial<Result> = {}) =>
  resultOfRun(run, {
    // a witness has neither the config version of the monitor nor its epoch
    ...{ configVersion: 0, epoch: 0, startedAtMs: run.scheduledAtMs + 5, outcome: Outcome.DOWN, statusCode: 0 },
    error: { source: FailureSource.TARGET, code: 'connection_refused', message: 'refused' },
    ...changes,
  })

t.test('A witness of another region', async t => {
  const fleet = await createTestFleet(t)
  const [first, second] = [await fleet.start(PATIENT), await fleet.start(PATIENT)]
  const own = connectProbe(t, first.port, await fleet.token('us-east'), { name: 'own' })
  const elsewhere = connectProbe(t, second.port, await fleet.token('eu-west'), { name: 'elsewhere' })
  await Promise.all([own.ready(), elsewhere.ready()])
  // requests for a monitor are limited, so each part has its own monitor
  const ids = await insertMonitors(fleet.db, fleet.projectId, 270, { regions: ['us-east'] })
  const monitorId = ids[0]!
  await waitFor(() => ids.every(id => own.assigned.has(id)), { label: 'their assignments' })
  // each process reads the monitors by itself, and ignores hints about monitors that it has not read
  await waitFor(async () => (await readMetric(second.metrics, 'picket_fleet_monitors')) === ids.length, {
    label: 'the monitors in the process of the witness',
  })

  const taken: { subject: string; batch: ResultBatch }[] = []
  const subscription = fleet.nats.connection.subscribe('RESULTS.>', {
    callback: (_, { subject, data }) => void taken.push({ subject, batch: ResultBatch.decode(data) }),
  })
  t.teardown(() => subscription.unsubscribe())
  const hint = (changes: Partial<WitnessHint> = {}): WitnessHint => ({
    ...{ runId: newId(), monitorId, configVersion: 1, scheduledAtMs: Date.now() },
    ...changes,
  })
  const ask = (changes?: Partial<WitnessHint>) =>
    fleet.nats.connection.publish(WITNESS_SUBJECT, JSON.stringify(hint(changes)))
  const runs = () => all(elsewhere, 'runNow')
  const done = (run: RunNow, changes?: Partial<Result>): RunDone => ({
    ...{ runId: run.runId, probeId: 'anybody', result: buildResult(run, changes) },
  })

  await t.test('checks the monitor once, and its result is published under its own id', async t => {
    ask()
    const run = await waitFor(() => runs()[0], { label: 'a check at the other region' })
    t.match(run, { monitorId, trigger: Trigger.WITNESS, spec: { type: 'http', url: 'https://shop.example' } })
    t.equal(run.spec!.screenshotOnFailure, false)
    elsewhere.send({
      $case: 'runDone',
      value: done(run, { scheduledAtMs: run.scheduledAtMs + 9, trigger: Trigger.SLOT }),
    })
    const { subject, batch } = await waitFor(() => taken[0], { label: 'the result' })
    t.equal(subject, witnessSubject(computePartition(monitorId)))
    const { epoch } = await fleet.epoch('eu-west')
    t.match(batch, { probeId: await elsewhere.probeId(), region: 'eu-west' })
    const { scheduledAtMs } = run
    const asked = { monitorId, configVersion: 1, epoch, scheduledAtMs, trigger: Trigger.WITNESS }
    t.match(batch, { results: [], witnessed: { ...asked, outcome: Outcome.DOWN } })
    t.equal(all(own, 'runNow').length, 0, 'the region itself is not asked')
  })

  await t.test('cannot report an unrequested check, report twice, or report another monitor', async t => {
    const run = runs()[0]!
    const unasked = { ...run, runId: newId() }
    elsewhere.send({ $case: 'runDone', value: done(run) })
    elsewhere.send({ $case: 'runDone', value: done(unasked) })
    ask({ monitorId: ids[1]! })
    const next = await waitFor(() => runs()[1], { label: 'the next check' })
    own.send({ $case: 'runDone', value: done(next) })
    // an answer about another monitor is published for the requested monitor
    elsewhere.send({ $case: 'runDone', value: done(next, { monitorId: newId(), outcome: Outcome.UP }) })
    await waitFor(() => taken[1], { label: 'the result' })
    t.match(taken[1]!.batch.witnessed, { monitorId: ids[1]!, outcome: Outcome.UP })
  })

  await t.test('is not asked after a change of the monitor, and not twice within a short time', async t => {
    ask({ monitorId: ids[2]!, configVersion: 2 })
    ask({ monitorId: newId() })
    fleet.nats.connection.publish(WITNESS_SUBJECT, 'nonsense')
    ask()
    ask({ monitorId: ids[1]! })
    ask({ monitorId: ids[2]! })
    ask({ monitorId: ids[2]! })
    ask({ monitorId: ids[3]! })
    const asked = await waitFor(() => (runs().length >= 4 ? runs().slice(2) : null), { label: 'the last check' })
    t.same(
      asked.map(run => run.monitorId),
      [ids[2], ids[3]],
    )
    t.equal(taken.length, 2)
  })

  await t.test('has at most 200 concurrent checks of one tenant, and receives the tenant', async t => {
    for (const id of ids.slice(4)) ask({ monitorId: id })
    const isOver = /^picket_fleet_hints_lost_total\{what="witness"\} 68$/m
    await waitFor(async () => isOver.test((await second.metrics.render()).text), {
      label: 'the other checks to be skipped',
    })
    // two had finished before
    await waitFor(() => runs().length === 202, { label: '200 checks' })
    for (const run of runs().slice(2)) elsewhere.send({ $case: 'runDone', value: done(run) })
    await waitFor(() => taken.length === 202, { label: 'their results' })
    t.equal(runs().length, 202)
    t.equal(new Set(runs().map(({ tenant }) => tenant)).size, 1)
    t.ok(runs()[0]!.tenant)
  })
})

t.test('A silent witness of one region does not hide the result of another region', async t => {
  const fleet = await createTestFleet(t)
  const process = await fleet.start(PATIENT)
  const [own, silent, healthy] = await Promise.all(
    ['us-east', 'eu-west', 'ap-southeast'].map(async region =>
      connectProbe(t, process.port, await fleet.token(region), { name: region }),
    ),
  )
  await Promise.all([own!, silent!, healthy!].map(probe => probe.ready()))
  const [monitorId] = await insertMonitors(fleet.db, fleet.projectId, 1, { regions: ['us-east'] })
  await waitFor(() => own!.assigned.has(monitorId!), { label: 'its assignment' })
  const taken: ResultBatch[] = []
  const subscription = fleet.nats.connection.subscribe(witnessSubject(computePartition(monitorId!)), {
    callback: (_, { data }) => void taken.push(ResultBatch.decode(data)),
  })
  t.teardown(() => subscription.unsubscribe())
  const hint: WitnessHint = { runId: newId(), monitorId: monitorId!, configVersion: 1, scheduledAtMs: Date.now() }
  fleet.nats.connection.publish(WITNESS_SUBJECT, JSON.stringify(hint))
  const [atSilent, atHealthy] = await Promise.all(
    [silent!, healthy!].map(probe => waitFor(() => all(probe, 'runNow')[0], { label: 'a check at each region' })),
  )
  t.not(atSilent!.runId, atHealthy!.runId)
  const result = buildResult(atHealthy!, { outcome: Outcome.UP, statusCode: 200, error: undefined })
  healthy!.send({ $case: 'runDone', value: { runId: atHealthy!.runId, probeId: 'anybody', result } })
  await waitFor(() => taken[0], { label: 'the result of the other region' })
  t.match(taken, [{ region: 'ap-southeast', witnessed: { monitorId, outcome: Outcome.UP } }])
})

t.test('A witness receives the credentials of a monitor only with witness_with_credentials', async t => {
  const { url } = await createDatabase(t)
  const db = createPostgres(url, 20)
  t.teardown(() => db.destroy())
  const secrets = createSecretCipher(randomBytes(32))
  const fleet = await createTestFleet(t, { url, db, secrets })
  const address = 'https://shop.example/health?token=secret'
  const [shared, kept, changed, unwitnessed] = await insertMonitors(db, fleet.projectId, 4, { regions: ['us-east'] })
  for (const id of [shared!, kept!, changed!, unwitnessed!]) {
    const owner = { id, projectId: fleet.projectId }
    const headers = { 'X-Api-Key': 'secret key', Accept: 'text/html' }
    await execute(
      db,
      `UPDATE monitors SET url = :url, method = 'POST', body = 'secret body',
         headers = :headers, auth_type = 'basic', auth_config = :auth, witness = :witness,
         witness_with_credentials = :isShared
       WHERE id = :id`,
      {
        headers: encryptHeaders(headers, owner, secrets),
        auth: encryptAuth({ username: 'picket', password: 'secret' }, owner, secrets),
        ...{ id, url: address, witness: id !== unwitnessed, isShared: id === shared || id === unwitnessed },
      },
    )
  }
  const { port } = await fleet.start(PATIENT)
  const own = connectProbe(t, port, await fleet.token('us-east'), { name: 'own' })
  const elsewhere = connectProbe(t, port, await fleet.token('eu-west'), { name: 'elsewhere' })
  await Promise.all([own.ready(), elsewhere.ready()])
  await waitFor(() => own.assigned.size === 4, { label: 'the assignments' })

  const ask = (monitorId: string, configVersion: number) => {
    const hint: WitnessHint = { runId: newId(), monitorId, configVersion, scheduledAtMs: Date.now() }
    fleet.nats.connection.publish(WITNESS_SUBJECT, JSON.stringify(hint))
  }
  const askFor = async (id: string, configVersion = 1) => {
    ask(id, configVersion)
    const isAbout = ({ monitorId }: RunNow) => monitorId === id
    return (await waitFor(() => all(elsewhere, 'runNow').find(isAbout), { label: 'the check of the witness' })).spec!
  }
  const whole = {
    ...{ url: address, method: 'POST', body: 'secret body' },
    headers: { 'X-Api-Key': 'secret key', Accept: 'text/html' },
    auth: { kind: { $case: 'basic', value: { username: 'picket', password: 'secret' } } },
  }
  t.match(await askFor(shared!), whole)

  const spec = await askFor(kept!)
  t.match(spec, { url: 'https://shop.example/health', method: 'GET', headers: { Accept: 'text/html' } })
  t.notMatch(JSON.stringify(spec), 'secret', 'the address is checked without the credentials')

  await execute(db, 'UPDATE monitors SET witness_with_credentials = true, config_version = 2 WHERE id = ?', [changed!])
  await waitFor(() => own.assigned.get(changed!)?.configVersion === 2, { label: 'the changed monitor' })
  ask(unwitnessed!, 1)
  t.match(await askFor(changed!, 2), whole, 'a change of the setting applies to the next check')
  t.equal(all(elsewhere, 'runNow').length, 3, 'a monitor with `witness: false` is not checked, with any credentials')
})
