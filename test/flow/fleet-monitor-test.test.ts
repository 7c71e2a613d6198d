import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { encryptSpec } from '../../control-plane/monitoring/fleet/on-demand/encrypted-spec.ts'
import type { RunNow } from '../../proto/gen/probe/v1/fleet.ts'
import { FailureSource, Outcome, Trigger } from '../../shared/checks/result.ts'
import { runHintSubject } from '../../shared/nats/subjects.ts'
import { all, connectProbe, type TestProbe } from '../support/fleet.ts'
import { answerRun, resultOfRun, startOnDemandFleet } from '../support/on-demand.ts'
import { waitFor } from '../support/wait.ts'

// takes about 20 s

const { api, fleet, port, token } = await startOnDemandFleet(t, 40)
const probe = connectProbe(t, port, token, { name: 'a', capabilities: ['http', 'keyword'] })
await probe.ready()

const SHOP = { name: 'Shop', type: 'http', url: 'https://shop.example.com', regions: ['eu-west'], timeout_ms: 60_000 }

const buildUpResult = (run: RunNow) => resultOfRun(run, { configVersion: 0 })
const buildBusyResult = (run: RunNow) =>
  resultOfRun(run, {
    configVersion: 0,
    outcome: Outcome.UNKNOWN,
    error: { source: FailureSource.INTERNAL, code: 'probe_busy', message: 'the probe is stopping' },
  })

const listRuns = (of: TestProbe) => all(of, 'runNow')

/** Answers the next requested run as a probe would. */
const answer = (of: TestProbe, toResult = buildUpResult) => answerRun(of, listRuns(of).length, toResult)

t.test('POST /monitors/test 200: one result for each region, and nothing is stored or sent in plain text', async t => {
  const account = await api.account()
  await fleet.nats.manager.streams.add({ name: 'RESULTS', subjects: ['RESULTS.*.*'] })
  const overheard: string[] = []
  const ear = fleet.nats.connection.subscribe('HINT.run.>', {
    callback: (_error, message) => void overheard.push(message.string()),
  })
  const body = {
    ...SHOP,
    regions: ['eu-west', 'us-east'],
    headers: { 'X-Shop-Key': 'key-of-the-shop' },
    ...{ auth_type: 'basic', auth_config: { username: 'shop', password: 'pa55-of-the-shop' } },
  }
  const [{ status, body: answered }, run] = await Promise.all([
    account.call('POST /monitors/test', body),
    answer(probe),
  ])
  t.equal(status, 200)
  const probeId = await probe.probeId()
  t.match(answered.data.results, [
    { monitor_id: null, region: 'eu-west', probe_id: probeId, status: 'up', status_code: 200, response_time_ms: 1.234 },
    {
      monitor_id: null,
      region: 'us-east',
      probe_id: null,
      status: 'unknown',
      error: { source: 'internal', code: 'no_probe', message: 'no probe of us-east is connected' },
      response_time_ms: null,
      timings: null,
    },
  ])
  t.match(run, { trigger: Trigger.RUN_NOW, spec: { url: SHOP.url, screenshotOnFailure: false } })
  t.match(run.spec?.auth, { kind: { value: { username: 'shop', password: 'pa55-of-the-shop' } } })
  t.equal(run.spec?.headers['X-Shop-Key'], 'key-of-the-shop')
  t.same((await query(api.db, 'SELECT count(*)::int AS count FROM monitors'))[0], { count: 0 })
  const { state } = await fleet.nats.manager.streams.info('RESULTS')
  t.equal(state.messages, 0, 'no result')
  await waitFor(() => overheard.length === 1)
  t.notMatch(overheard.join(), /of-the-shop|shop\.example/)
  ear.unsubscribe()
})

t.test('POST /monitors/test 400: a monitor that cannot be checked, with the missing field', async t => {
  const account = await api.account()
  const cases: [body: object, path: string, message: string][] = [
    [{ type: 'http', url: undefined }, 'url', 'url is required to check an http monitor'],
    [{ type: 'tcp', url: 'shop.example.com' }, 'url', 'port is required to check a tcp monitor'],
    [{ type: 'keyword' }, 'keyword', 'keyword is required to check a keyword monitor'],
    [{ type: 'heartbeat' }, 'type', 'a heartbeat monitor cannot be tested, because it is not checked by probes'],
    [{ url: 'http://10.0.0.1' }, 'url', 'blocked_target: 10.0.0.1 is a private address and cannot be a target'],
    [{ colour: 'red' }, 'colour', 'colour is not a known property'],
  ]
  for (const [change, path, message] of cases) {
    const { status, body } = await account.call('POST /monitors/test', { ...SHOP, ...change })
    t.same([status, body.error.code], [400, 'validation_error'], message)
    t.same(body.error.details, [{ path, message }])
  }
})

t.test('POST /monitors/test 401 and 403: a test needs a write key', async t => {
  const account = await api.account()
  const read = await account.callWith('read')
  t.match(await read('POST /monitors/test', SHOP), { status: 403, body: { error: { code: 'insufficient_scope' } } })
  const write = await account.callWith('write')
  const [{ status }] = await Promise.all([write('POST /monitors/test', SHOP), answer(probe)])
  t.equal(status, 200)
  const none = await account.call('POST /monitors/test', SHOP, { authorization: 'Bearer svc_none' })
  t.equal(none.status, 401)
})

t.test('POST /monitors/test 200: another probe is asked when a probe drains or is full', async t => {
  const account = await api.account()
  const asked = account.call('POST /monitors/test', SHOP)
  const refused = await answer(probe, buildBusyResult)
  const run = await answer(probe)
  t.not(refused.runId, run.runId)
  t.match((await asked).body.data.results, [{ status: 'up' }])

  const again = account.call('POST /monitors/test', { ...SHOP, timeout_ms: 5_000 })
  await answer(probe, buildBusyResult)
  t.match(
    (await again).body.data.results,
    [{ status: 'unknown', error: { code: 'probe_busy' } }],
    'a refusal is better than no answer',
  )
})

t.test('A test is sent to any probe of the region that can run it', async t => {
  const account = await api.account()
  const tcp = { ...SHOP, type: 'tcp', url: 'shop.example.com:443' }
  const { body } = await account.call('POST /monitors/test', tcp)
  const message = 'no connected probe of eu-west can run tcp checks'
  t.match(body.data.results, [{ status: 'unknown', error: { source: 'internal', code: 'no_probe', message } }])

  const newer = connectProbe(t, port, token, { name: 'b', capabilities: ['http', 'tcp'] })
  await newer.ready()
  const before = listRuns(probe).length
  for (let i = 0; i < 5; i++) await Promise.all([account.call('POST /monitors/test', tcp), answer(newer)])
  t.equal(listRuns(probe).length, before)
  const seen = { a: listRuns(probe).length, b: listRuns(newer).length }
  const either = () => listRuns(probe).length + listRuns(newer).length
  // the probe is selected at random: with so many runs it is practically never always the same one
  for (let i = 0; i < 24; i++) {
    const [sum, asked] = [either(), account.call('POST /monitors/test', SHOP)]
    await waitFor(() => either() === sum + 1)
    for (const of of [probe, newer]) {
      const run = listRuns(of).at(-1)!
      of.send({ $case: 'runDone', value: { runId: run.runId, probeId: '', result: buildUpResult(run) } })
    }
    t.equal((await asked).status, 200)
  }
  t.ok(listRuns(probe).length > seen.a && listRuns(newer).length > seen.b, 'both were selected')
  newer.send({ $case: 'draining', value: {} })
  await waitFor(async () => (await fleet.epoch()).probeIds.length === 1, { label: 'the end of b' })
})

t.test(
  'A client of NATS cannot make probes check other targets: a check is decrypted only with the key and for its run',
  async t => {
    const before = listRuns(probe).length
    const spec = { ...(listRuns(probe)[0]!.spec as NonNullable<RunNow['spec']>), url: 'https://stolen.example.com' }
    const hint = { monitorId: fleet.projectId, trigger: Trigger.RUN_NOW, scheduledAtMs: 1 }
    const send = (runId: string, sealedSpec: string) =>
      fleet.nats.connection.publish(runHintSubject('eu-west'), JSON.stringify({ ...hint, runId, sealedSpec }))
    const other = createSecretCipher(randomBytes(32))
    send('run-1', encryptSpec(spec, 'run-1', other))
    send('run-2', encryptSpec(spec, 'run-1', api.secrets))
    send('run-3', 'nonsense')
    const account = await api.account()
    await Promise.all([account.call('POST /monitors/test', SHOP), answer(probe)])
    t.equal(listRuns(probe).length, before + 1, 'only the genuine one arrived')
  },
)

t.test(
  'POST /monitors/test 429: over ten concurrent tests or the tests a minute of a project, with the time to wait',
  async t => {
    const account = await api.account()
    const before = listRuns(probe).length
    const running = Array.from({ length: 10 }, () => account.call('POST /monitors/test', SHOP))
    await waitFor(() => listRuns(probe).length === before + 10)
    const tooMany = await account.call('POST /monitors/test', SHOP)
    t.equal(tooMany.status, 429)
    t.match(tooMany.body.error, {
      code: 'rate_limited',
      message: 'a project can run at most 10 tests at the same time; wait until one has finished',
    })
    t.equal(tooMany.headers['retry-after'], '5')
    const elsewhere = await api.account()
    const [other] = await Promise.all([elsewhere.call('POST /monitors/test', SHOP), answer(probe)])
    t.equal(other.status, 200, 'another project has its own limit')
    for (const run of listRuns(probe).slice(before, before + 10))
      probe.send({ $case: 'runDone', value: { runId: run.runId, probeId: '', result: buildUpResult(run) } })
    t.same(
      (await Promise.all(running)).map(({ status, body }) => [status, body.data.results[0].status]),
      Array(10).fill([200, 'up']),
    )
  },
)
