import t from 'tap'
import { RegionState } from '../../proto/gen/probe/v1/fleet.ts'
import { FailureSource, Outcome, type Result, Trigger } from '../../proto/gen/probe/v1/result.ts'
import { computePartition } from '../../shared/nats/subjects.ts'
import { assignment, checkSpec, startFleetServer } from '../support/fleet-server.ts'
import { hourlyId } from '../support/hourly.ts'
import { startNats } from '../support/nats.ts'
import { startProbe } from '../support/probe.ts'
import { collectResults } from '../support/result-collector.ts'
import { startTarget } from '../support/target.ts'
import type { Teardown } from '../support/teardown.ts'
import { isUnbroken } from '../support/unbroken.ts'
import { HANG_MS, waitFor } from '../support/wait.ts'

// these tests mostly wait
t.jobs = 4

async function startParts(t: Teardown, options: { clockAheadMs?: number } = {}, env: Record<string, string> = {}) {
  const nats = await startNats(t)
  const collector = await collectResults(t, nats.url)
  const target = await startTarget(t)
  const fleet = await startFleetServer(t, { natsUrl: nats.url, ...options })
  const probe = startProbe(t, fleet.url, env)
  return { collector, target, fleet, probe, atLeast: collector.atLeast }
}

t.test('A new monitor is checked immediately, and its result is complete', async t => {
  const hourMs = 3_600_000
  // without a slot in the next minutes, even by a clock that is an hour ahead
  const id = hourlyId('eu-west')
  const { fleet, target, probe, atLeast, collector } = await startParts(t, { clockAheadMs: hourMs })
  await fleet.hello(1)
  await fleet.assign({
    revision: 7,
    upserts: [assignment(id, checkSpec(target.url), { checkAtOnce: true, configVersion: 3, intervalS: 3600 })],
  })
  await probe.untilEvent('connected')
  const [result] = await atLeast(1, id)
  t.match(result, {
    configVersion: 3,
    epoch: 1,
    attempt: 1,
    outcome: Outcome.UP,
    trigger: Trigger.SLOT,
    statusCode: 200,
  })
  t.ok(Math.abs(result!.scheduledAtMs - fleet.nowMs()) < hourMs / 2, 'times are on the control plane’s clock')
  t.ok(result!.startedAtMs >= result!.scheduledAtMs)
  const [message] = await collector.messages()
  t.equal(message!.subject, `RESULTS.${computePartition(id)}.eu-west`)
  t.match(message!.batch, { probeId: 'probe-1', region: 'eu-west' })
})

t.test('A monitor keeps its slots, and stops when it is removed', async t => {
  const { fleet, target, atLeast } = await startParts(t)
  await fleet.assign({ upserts: [assignment('m1', checkSpec(target.url), { intervalS: 1 })] })
  const results = await atLeast(3, 'm1')
  t.ok(isUnbroken(results), 'every second has its check')
  t.ok(
    results.every(result => result.startedAtMs >= result.scheduledAtMs),
    'no check starts before it is due',
  )
  await fleet.assign({
    revision: 2,
    removals: ['m1'],
    upserts: [assignment('m2', checkSpec(target.url), { intervalS: 1 })],
  })
  const other = (await atLeast(3, 'm2')).at(-1)!
  const last = (await atLeast(3, 'm1')).at(-1)!
  t.ok(other.scheduledAtMs - last.scheduledAtMs > 1500, 'the removed monitor is not checked any more')
})

t.test(
  'A failing monitor is re-checked after at least 1, 3 and 5 s, at most retry_count times',
  { buffered: true },
  async t => {
    const id = hourlyId('eu-west')
    const { fleet, target, atLeast } = await startParts(t)
    target.behave({ kind: 'answer', status: 503 })
    await fleet.assign({
      upserts: [assignment(id, checkSpec(target.url), { checkAtOnce: true, intervalS: 3600, retryCount: 3 })],
    })
    const results = await atLeast(4, id)
    t.same(
      results.map(result => [result.attempt, result.outcome, result.scheduledAtMs - results[0]!.scheduledAtMs]),
      [1, 2, 3, 4].map(attempt => [attempt, Outcome.DOWN, 0]),
    )
    const waits = results.slice(1).map((result, i) => result.startedAtMs - results[i]!.startedAtMs)
    // a clock sample may have changed the offset slightly
    t.ok(
      waits.every((wait, i) => wait >= [1000, 3000, 5000][i]! - 500),
      String(waits),
    )
  },
)

t.test(
  'When a re-check is answered, the silent first attempt is cancelled, and the history says so',
  { buffered: true },
  async t => {
    const id = hourlyId('eu-west')
    const { fleet, target, atLeast } = await startParts(t)
    target.behaveOnce({ kind: 'hang', after: 'connect' })
    // the next attempt starts after 5 s
    const spec = checkSpec(target.url, { timeoutMs: HANG_MS })
    await fleet.assign({ upserts: [assignment(id, spec, { checkAtOnce: true, intervalS: 3600, retryCount: 2 })] })
    const [first, second] = await atLeast(2, id)
    t.match(first, { attempt: 1, outcome: Outcome.UNKNOWN, error: { source: FailureSource.TARGET, code: 'cancelled' } })
    t.match(second, { attempt: 2, outcome: Outcome.UP })
    t.ok(first!.totalUs >= 5_000_000 && first!.totalUs < HANG_MS * 1000, `cancelled after ${first!.totalUs} µs`)
    await waitFor(async () => (await target.countConnections()) === 0)
    t.equal(target.requests.length, 2)
  },
)

t.test('A monitor of a failing region gets one attempt a slot', { buffered: true }, async t => {
  const { fleet, target, atLeast } = await startParts(t)
  target.behave({ kind: 'reset', after: 'connect' })
  const failing = { retryCount: 2, intervalS: 1, regionState: RegionState.FAILING }
  await fleet.assign({ upserts: [assignment('m1', checkSpec(target.url), failing)] })
  const results = await atLeast(3, 'm1')
  t.ok(results.every(result => result.attempt === 1 && result.error?.source === FailureSource.TARGET))
})

t.test('A check on demand runs immediately', { buffered: true }, async t => {
  const m1 = hourlyId('eu-west')
  const { fleet, target, atLeast } = await startParts(t)
  const spec = checkSpec(target.url)
  const done = (runId: string) =>
    waitFor(() => fleet.runsDone.find(run => run.runId === runId)?.result, { label: `the answer to ${runId}` })
  await fleet.assign({ upserts: [assignment(m1, spec, { intervalS: 3600, retryCount: 1 })] })
  await waitFor(() => fleet.heartbeats.length > 1)

  await fleet.runNow({ runId: 'requested', monitorId: m1 })
  t.match(await done('requested'), { outcome: Outcome.UP, trigger: Trigger.RUN_NOW, runId: 'requested', attempt: 1 })
  t.match((await atLeast(1, m1))[0], { runId: 'requested' }, 'it counts for the verdict')

  await fleet.runNow({ runId: 'draft', monitorId: m1, spec: checkSpec(`${target.url}other`) })
  t.match(await done('draft'), { outcome: Outcome.UP, statusCode: 200 })
  t.equal(target.requests.at(-1)!.path, '/other')

  await fleet.runNow({ runId: 'foreign', monitorId: 'unknown' })
  t.match(await done('foreign'), {
    outcome: Outcome.UNKNOWN,
    error: { source: FailureSource.INTERNAL, code: 'not_assigned' },
  })

  target.behave({ kind: 'answer', status: 500 })
  target.behaveOnce({ kind: 'hold' })
  const before = target.requests.length
  await fleet.runNow({ monitorId: m1, trigger: Trigger.SECOND_OPINION })
  await waitFor(() => target.requests.length > before, { label: 'a chain that is under way' })
  for (const runId of ['one', 'another']) await fleet.runNow({ runId, monitorId: m1, trigger: Trigger.RUN_NOW })
  // it is answered when both requests have arrived, because a probe reads its messages in their order
  await fleet.runNow({ runId: 'marker', monitorId: 'unknown' })
  await done('marker')
  target.release()
  for (const runId of ['one', 'another']) {
    const answer = await done(runId)
    // on a slow machine, of the chain that follows
    const isAnswer = (one: Result) => one.scheduledAtMs === answer.scheduledAtMs && one.attempt === answer.attempt
    const kept = await waitFor(async () => (await atLeast(3, m1)).find(isAnswer), { label: `the result for ${runId}` })
    t.same({ ...kept, runId }, answer, 'a request during a chain is answered by an attempt that counts')
  }
  const published = await atLeast(3, m1)
  t.same(
    published.slice(0, 3).map(one => [one.attempt, one.trigger, one.runId]),
    [
      [1, Trigger.RUN_NOW, 'requested'],
      [1, Trigger.SECOND_OPINION, ''],
      [2, Trigger.SECOND_OPINION, ''],
    ],
    'the draft is answered only',
  )
})

t.test(
  'A page of 1 MiB is searched by an expression, and evidence is sent when it does not match',
  { buffered: true },
  async t => {
    const { fleet, target, atLeast } = await startParts(t)
    const spec = checkSpec(target.url, { type: 'keyword', keyword: '^(a+)+$', keywordType: 'regex' })
    target.behave({ kind: 'answer', body: 'a'.repeat(1024 * 1024) })
    await fleet.assign({ upserts: [assignment('m1', spec, { checkAtOnce: true, intervalS: 1 })] })
    const [found] = await atLeast(1, 'm1')
    t.match(found, { outcome: Outcome.UP, error: undefined, evidence: undefined })
    const broken = `b${'a'.repeat(1024 * 1024 - 1)}`
    target.behave({ kind: 'answer', body: broken, headers: { 'x-token': 'secret' } })
    const failed = await waitFor(async () => (await atLeast(2, 'm1')).find(({ outcome }) => outcome === Outcome.DOWN))
    t.equal(failed.error?.code, 'keyword_missing')
    t.equal(String(Buffer.from(failed.evidence!.body)), broken.slice(0, 4096))
    t.match(failed.evidence?.headers, { 'x-token': '********' })
  },
)

t.test('A check without a permit within its interval is reported as missed', { buffered: true }, async t => {
  const { fleet, target, atLeast } = await startParts(t, {}, { MAX_CONCURRENT_CHECKS: '1' })
  target.behaveAt('/hang', { kind: 'hang', after: 'connect' })
  const hanging = checkSpec(`${target.url}hang`, { timeoutMs: HANG_MS })
  // due earlier, each holds the only permit for 2 s: 6 s for a monitor that is due every second
  const ids = ['hangs-1', 'hangs-2', 'hangs-3']
  const upserts = ids.map(id => assignment(id, hanging, { checkAtOnce: true, intervalS: 3600 }))
  upserts.push(assignment('waits', checkSpec(target.url), { intervalS: 1 }))
  await fleet.assign({ upserts })
  const results = await waitFor(async () => {
    const found = await atLeast(2, 'waits')
    return found.some(({ outcome }) => outcome === Outcome.UP) ? found : null
  })
  const missed = results.slice(
    0,
    results.findIndex(({ outcome }) => outcome === Outcome.UP),
  )
  t.ok(missed.length >= 2, `${missed.length} missed`)
  for (const result of missed) {
    t.match(result, {
      outcome: Outcome.MISSED,
      attempt: 1,
      error: { source: FailureSource.INTERNAL, code: 'missed_slot' },
    })
  }
  t.ok(isUnbroken(results), 'each slot is reported')
  t.equal(
    target.requests.filter(({ path }) => path === '/hang').length,
    ids.length,
    'a check that hangs gives its place to others after 2 s',
  )
  // The probe exits when its running check ends.
  await target.close()
})
