import t from 'tap'
import { newId } from '../../control-plane/platform/ids.ts'
import type { RunDone, RunNow } from '../../proto/gen/probe/v1/fleet.ts'
import { FailureSource, NO_DETAILS, Outcome, type Result, ResultBatch, Trigger } from '../../shared/result.ts'
import { partitionOf, WITNESS_SUBJECT, type WitnessHint, witnessSubject } from '../../shared/subjects.ts'
import { all, connectProbe, createTestFleet, PATIENT } from '../support/fleet.ts'
import { insertMonitor } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const resultOf = (run: RunNow, changes: Partial<Result> = {}): Result => ({
  // a witness knows neither the version of the monitor nor its epoch
  ...{ monitorId: run.monitorId, configVersion: 0, epoch: 0, scheduledAtMs: run.scheduledAtMs, attempt: 1 },
  ...{ startedAtMs: run.scheduledAtMs + 5, outcome: Outcome.DOWN, trigger: run.trigger, runId: run.runId },
  ...{ totalUs: 1_234, timings: undefined, statusCode: 0, failedAssertions: [], resolvedIp: '192.0.2.1' },
  error: { source: FailureSource.TARGET, code: 'connection_refused', message: 'refused' },
  ...NO_DETAILS,
  ...changes,
})

t.test('a witness of another region', async t => {
  const fleet = await createTestFleet(t)
  const ports = [(await fleet.start(PATIENT)).port, (await fleet.start(PATIENT)).port]
  const own = connectProbe(t, ports[0]!, await fleet.token('us-east'), { name: 'own' })
  const elsewhere = connectProbe(t, ports[1]!, await fleet.token('eu-west'), { name: 'elsewhere' })
  await Promise.all([own.ready(), elsewhere.ready()])
  const monitorId = await insertMonitor(fleet.db, fleet.projectId, { regions: ['us-east'] })
  await waitFor(() => own.assigned.has(monitorId), { label: 'its assignment' })

  const taken: { subject: string; batch: ResultBatch }[] = []
  const heard = fleet.nats.connection.subscribe('RESULTS.>', {
    callback: (_, { subject, data }) => void taken.push({ subject, batch: ResultBatch.decode(data) }),
  })
  t.teardown(() => heard.unsubscribe())
  const hint = (changes: Partial<WitnessHint> = {}): WitnessHint => ({
    ...{ runId: newId(), monitorId, configVersion: 1, scheduledAtMs: Date.now() },
    ...changes,
  })
  const ask = (changes?: Partial<WitnessHint>) =>
    fleet.nats.connection.publish(WITNESS_SUBJECT, JSON.stringify(hint(changes)))
  const runs = () => all(elsewhere, 'runNow')
  const done = (run: RunNow, changes?: Partial<Result>): RunDone => ({
    ...{ runId: run.runId, probeId: 'anybody', result: resultOf(run, changes) },
  })

  await t.test('checks the monitor once, and the verdict reads what it saw under its own name', async t => {
    ask()
    const run = await waitFor(() => runs()[0], { label: 'a check at the other region' })
    t.match(run, { monitorId, trigger: Trigger.WITNESS, spec: { type: 'http', url: 'https://shop.example' } })
    t.equal(run.spec!.screenshotOnFailure, false)
    elsewhere.send({
      $case: 'runDone',
      value: done(run, { scheduledAtMs: run.scheduledAtMs + 9, trigger: Trigger.SLOT }),
    })
    const { subject, batch } = await waitFor(() => taken[0], { label: 'the result' })
    t.equal(subject, witnessSubject(partitionOf(monitorId)))
    const { epoch } = await fleet.epoch('eu-west')
    t.match(batch, { probeId: await elsewhere.probeId(), region: 'eu-west' })
    const { scheduledAtMs } = run
    const asked = { monitorId, configVersion: 1, epoch, scheduledAtMs, trigger: Trigger.WITNESS }
    t.match(batch, { results: [], witnessed: { ...asked, outcome: Outcome.DOWN } })
    t.equal(all(own, 'runNow').length, 0, 'the region itself is not asked')
  })

  await t.test('says nothing that it was not asked, nothing twice, and nothing of another monitor', async t => {
    const run = runs()[0]!
    const unasked = { ...run, runId: newId() }
    elsewhere.send({ $case: 'runDone', value: done(run) })
    elsewhere.send({ $case: 'runDone', value: done(unasked) })
    ask()
    const next = await waitFor(() => runs()[1], { label: 'the next check' })
    own.send({ $case: 'runDone', value: done(next) })
    // a probe that answers for another monitor answers for the one that it was asked for
    elsewhere.send({ $case: 'runDone', value: done(next, { monitorId: newId(), outcome: Outcome.UP }) })
    await waitFor(() => taken[1], { label: 'the result' })
    t.match(taken[1]!.batch.witnessed, { monitorId, outcome: Outcome.UP })
  })

  await t.test(
    'is asked by the fleet too, where a probe in doubt finds the target of its only region silent',
    async t => {
      own.send({ $case: 'silent', value: { monitorId, configVersion: 1 } })
      own.send({ $case: 'silent', value: { monitorId: newId(), configVersion: 1, doubted: true } })
      elsewhere.send({ $case: 'silent', value: { monitorId, configVersion: 1, doubted: true } })
      own.send({ $case: 'silent', value: { monitorId, configVersion: 1, doubted: true } })
      const run = await waitFor(() => runs()[2], { label: 'a check at the other region' })
      elsewhere.send({ $case: 'runDone', value: done(run) })
      await waitFor(() => taken[2], { label: 'the result' })
      t.equal(runs().length, 3, 'once')
    },
  )

  await t.test('is not asked where the monitor was changed since', async t => {
    ask({ configVersion: 2 })
    ask({ monitorId: newId() })
    fleet.nats.connection.publish(WITNESS_SUBJECT, 'nonsense')
    ask()
    await waitFor(() => runs()[3], { label: 'the check that was asked for rightly' })
    t.equal(runs().length, 4)
    t.equal(taken.length, 3)
  })
})
