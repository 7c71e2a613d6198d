import t from 'tap'
import { newId } from '../../control-plane/foundation/platform/ids.ts'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { RunDone, type RunNow } from '../../proto/gen/probe/v1/fleet.ts'
import { FailureSource, Outcome, ResultBatch, Trigger } from '../../shared/checks/result.ts'
import {
  computePartition,
  type RunHint,
  resultSubject,
  runDoneSubject,
  runHintSubject,
} from '../../shared/nats/subjects.ts'
import { all, connectProbe, type TestProbe } from '../support/fleet.ts'
import { answerRun, resultOfRun, startOnDemandFleet } from '../support/on-demand.ts'
import { insertMonitor, insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const buildResult = (run: RunNow) =>
  resultOfRun(run, {
    startedAtMs: run.scheduledAtMs + 5,
    outcome: Outcome.DOWN,
    timings: { dnsUs: 100, connectUs: 200, tlsUs: 300, firstByteUs: 400, transferUs: 234 },
    statusCode: 503,
    error: { source: FailureSource.TARGET, code: 'status', message: 'status 503' },
  })
const answer = (probe: TestProbe) => answerRun(probe, 0, buildResult)

t.test('A check on demand runs in every region', async t => {
  const { api, fleet, port, token } = await startOnDemandFleet(t, 30)
  const probe = connectProbe(t, port, token, { name: 'a' })
  await probe.ready()
  const account = await api.account()
  const insert = async (spec = {}) => {
    const id = await insertMonitor(api.db, account.projectId, { regions: ['eu-west', 'us-east'], ...spec })
    // for probes on a busy machine; the API waits 5 s longer for an answer
    await execute(api.db, 'UPDATE monitors SET timeout_ms = 60000 WHERE id = ?', [id])
    return id
  }

  await t.test('POST /monitors/{id}/check 200: one result for each region, or the reason for none', async t => {
    const id = await insert()
    const [{ status, body }] = await Promise.all([account.call(`POST /monitors/${id}/check`), answer(probe)])
    t.equal(status, 200)
    const [seen, missing] = body.data.results
    t.match(seen, {
      id: /^[0-9a-f-]{36}$/,
      monitor_id: id,
      region: 'eu-west',
      probe_id: await probe.probeId(),
      status: 'down',
      attempt: 1,
      trigger: 'run_now',
      response_time_ms: 1.234,
      timings: { dns_ms: 0.1, connect_ms: 0.2, tls_ms: 0.3, first_byte_ms: 0.4, transfer_ms: 0.234 },
      status_code: 503,
      error: { source: 'target', code: 'status', message: 'status 503' },
      failed_assertions: [],
      resolved_ip: '192.0.2.1',
      screenshot_url: null,
    })
    t.equal(Date.parse(seen.started_at) - Date.parse(seen.scheduled_at), 5)
    t.match(missing, {
      region: 'us-east',
      status: 'unknown',
      probe_id: null,
      error: { source: 'internal', code: 'no_probe', message: 'no probe of us-east is connected' },
      response_time_ms: null,
      timings: null,
    })
    t.equal(all(probe, 'runNow')[0]?.trigger, Trigger.RUN_NOW)
  })

  await t.test(
    'POST /monitors/{id}/check 200: a probe that does not answer in time is not a failure of the target',
    async t => {
      const id = await insert({ regions: ['eu-west'] })
      await execute(api.db, 'UPDATE monitors SET timeout_ms = 1, config_version = 2 WHERE id = ?', [id])
      const { status, body } = await account.call(`POST /monitors/${id}/check`)
      t.equal(status, 200)
      t.match(body.data.results, [
        { region: 'eu-west', status: 'unknown', error: { source: 'internal', code: 'no_answer' } },
      ])
    },
  )

  await t.test('POST /monitors/{id}/check 404: unknown, malformed and foreign ids', async t => {
    const foreign = await insertMonitor(api.db, fleet.projectId)
    for (const id of [foreign, '0190a0a0-0000-7000-8000-000000000000', 'nonsense', '%00']) {
      const { status, body } = await account.call(`POST /monitors/${id}/check`)
      t.same([status, body.error.code], [404, 'not_found'], id)
    }
  })

  await t.test('POST /monitors/{id}/check 409: the reason why a monitor is not checked', async t => {
    const cases = [
      ['is_paused = true', 'the monitor is paused; resume it first'],
      ['url = NULL', 'url is required to check an http monitor'],
      [`type = 'keyword'`, 'keyword is required to check a keyword monitor'],
    ]
    for (const [change, message] of cases) {
      const id = await insert()
      await execute(api.db, `UPDATE monitors SET ${change}, config_version = 2 WHERE id = ?`, [id])
      const { status, body } = await account.call(`POST /monitors/${id}/check`)
      t.same([status, body.error.code, body.error.message], [409, 'conflict', message])
    }
  })

  await t.test('POST /monitors/{id}/check 403: a read key', async t => {
    const read = await account.callWith('read')
    const { status } = await read(`POST /monitors/${await insert()}/check`)
    t.equal(status, 403)
  })

  const hintFor = (monitorId: string, runId = newId()): RunHint => ({
    ...{ runId, monitorId, trigger: Trigger.RUN_NOW, scheduledAtMs: Date.now() },
  })
  const listRuns = (asked: TestProbe, monitorId: string) =>
    all(asked, 'runNow').filter(run => run.monitorId === monitorId)

  await t.test('Many checks that are requested at the same time all reach the probe', async t => {
    const id = await insert({ regions: ['eu-west'] })
    await waitFor(() => probe.assigned.has(id))
    const hints = Array.from({ length: 500 }, () => hintFor(id))
    for (const hint of hints) fleet.nats.connection.publish(runHintSubject('eu-west'), JSON.stringify(hint))
    await waitFor(() => listRuns(probe, id).length >= hints.length, { label: 'every check' })
    t.same(
      listRuns(probe, id).map(({ runId }) => runId),
      hints.map(({ runId }) => runId),
    )
    t.ok(listRuns(probe, id).every(({ spec }) => spec === undefined))
  })

  await t.test('A repeated hint causes one check, and its answer is repeated', async t => {
    const id = await insert({ regions: ['eu-west'] })
    await waitFor(() => probe.assigned.has(id))
    const answers: RunDone[] = []
    const hint = hintFor(id)
    const listening = fleet.nats.connection.subscribe(runDoneSubject(hint.runId), {
      callback: (_error, message) => void answers.push(RunDone.decode(message.data)),
    })
    const ask = () => fleet.nats.connection.publish(runHintSubject('eu-west'), JSON.stringify(hint))
    ask()
    ask()
    const run = await waitFor(() => listRuns(probe, id)[0], { label: 'the check' })
    probe.send({ $case: 'runDone', value: { runId: run.runId, probeId: 'another', result: buildResult(run) } })
    await waitFor(() => answers.length === 1, { label: 'the answer' })
    ask()
    await waitFor(() => answers.length === 2, { label: 'the answer again' })
    t.same(answers[1], answers[0])
    t.equal(listRuns(probe, id).length, 1)
    listening.unsubscribe()
  })

  await t.test('A request is answered even when the session of the probe breaks during the check', async t => {
    const token = await fleet.token('us-east')
    const brief = connectProbe(t, port, token, { name: 'c' })
    await brief.ready()
    const id = await insert({ regions: ['us-east'] })
    await waitFor(() => brief.assigned.has(id))
    const asking = account.call(`POST /monitors/${id}/check`)
    await waitFor(() => listRuns(brief, id).length === 1, { label: 'the check' })
    brief.cut()
    const back = connectProbe(t, port, token, { name: 'c', instanceId: 'instance-2' })
    await answer(back)
    const { body } = await asking
    t.match(body.data.results, [{ region: 'us-east', status: 'down', status_code: 503 }])
    back.cut()
  })

  await t.test(
    'A second opinion is requested from another probe of the region, and its answer is published for the verdict',
    async t => {
      await insertMonitors(api.db, account.projectId, 40, { regions: ['eu-west'] })
      const other = connectProbe(t, port, token, { name: 'b' })
      await waitFor(() => other.has.epoch === probe.has.epoch && other.assigned.size > 0)
      const [owner, second] = [probe, other]
      const { monitorId, configVersion } = [...owner.assigned.values()][0]!
      await fleet.nats.manager.streams.add({ name: 'RESULTS', subjects: ['RESULTS.*.*'] })
      const hint: RunHint = {
        runId: '0190a0a0-0000-7000-8000-000000000001',
        monitorId,
        trigger: Trigger.SECOND_OPINION,
        scheduledAtMs: 1_700_000_000_000,
        notProbeId: await owner.probeId(),
      }
      const before = all(owner, 'runNow').length
      fleet.nats.connection.publish(runHintSubject('eu-west'), JSON.stringify(hint))
      const run = await answer(second)
      t.match(run, { monitorId, runId: hint.runId, spec: { url: 'https://shop.example' } }, 'with the check itself')
      t.equal(all(owner, 'runNow').length, before)

      const subject = resultSubject(computePartition(monitorId), 'eu-west')
      const readLast = async () => {
        const { data } = await waitFor(() =>
          fleet.nats.manager.streams.getMessage('RESULTS', { last_by_subj: subject }),
        )
        return ResultBatch.decode(data)
      }
      t.match(await readLast(), {
        probeId: await second.probeId(),
        region: 'eu-west',
        results: [{ monitorId, configVersion, epoch: second.has.epoch, trigger: Trigger.OTHER_PROBE }],
      })

      const asked: RunHint = { ...hint, runId: newId(), trigger: Trigger.RUN_NOW, notProbeId: undefined }
      fleet.nats.connection.publish(runHintSubject('eu-west'), JSON.stringify(asked))
      await waitFor(() => all(owner, 'runNow').some(({ runId }) => runId === asked.runId), { label: 'the request' })
      const answerAs = async (runId: string) => {
        const result = { ...buildResult({ ...run, runId }), trigger: Trigger.SECOND_OPINION }
        second.send({ $case: 'runDone', value: { runId, probeId: await second.probeId(), result } })
      }
      await answerAs(asked.runId)
      const later = newId()
      await answerAs(later)
      await waitFor(async () => (await readLast()).results[0]?.runId === later, { label: 'the next second opinion' })
      const { state } = await fleet.nats.manager.streams.info('RESULTS')
      t.equal(state.messages, 2, "the answer to a person's request is not published as an opinion")
    },
  )
})
