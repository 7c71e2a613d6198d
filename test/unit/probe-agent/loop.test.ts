import t from 'tap'
import { createAssignedMonitors } from '../../../probe-agent/schedule/assigned-monitors.ts'
import { createCheckLoop } from '../../../probe-agent/schedule/loop.ts'
import { createRunNowHandler } from '../../../probe-agent/schedule/run-now.ts'
import { Outcome, type Result, Trigger } from '../../../proto/gen/probe/v1/result.ts'
import { computeSlots, findSlotFrom } from '../../../shared/checks/slots.ts'
import { createLog } from '../../../shared/process/log.ts'
import { assignment, checkSpec } from '../../support/fleet-server.ts'
import type { Teardown } from '../../support/teardown.ts'
import { waitFor } from '../../support/wait.ts'

const OBSERVATION = {
  error: null,
  timings: { dnsUs: 0, connectUs: 0, tlsUs: 0, firstByteUs: 0, transferUs: 0 },
  totalUs: 1000,
  statusCode: 200,
  headers: null,
  body: null,
  resolvedIp: null,
  certificate: null,
}

const SUCCESS = {
  observation: OBSERVATION,
  outcome: Outcome.UP,
  failedAssertions: [],
  evidence: undefined,
  certificate: undefined,
}

/** A loop by the given clock. Results are added to `published`. */
function startLoop(t: Teardown, nowMs: () => number, published: Result[], run = async () => SUCCESS) {
  const loop = createCheckLoop({
    monitors: createAssignedMonitors('eu-west'),
    clock: { learn: () => 0, nowMs },
    run,
    publish: result => published.push(result),
    answer() {},
    maxConcurrentChecks: 10,
    log: createLog('test', 'silent'),
  })
  t.teardown(() => loop.drain())
  return loop
}

t.test('A slot is checked once, even when a clock correction goes back a little', async t => {
  const intervalS = 3600
  const slots = computeSlots('m1', 'eu-west', intervalS)
  const slotMs = findSlotFrom(slots, Date.UTC(2026, 7, 1))
  let nowMs = slotMs - 5
  const published: Result[] = []
  let runs = 0
  const loop = startLoop(
    t,
    () => nowMs,
    published,
    async () => {
      runs++
      nowMs = slotMs - 20
      return SUCCESS
    },
  )
  const upserts = [assignment('m1', checkSpec('http://127.0.0.1'), { intervalS })]
  loop.apply({ isSnapshot: true, isLast: true, revision: 1, epoch: 1, upserts, removals: [] })
  nowMs = slotMs + 1
  loop.clockLearned(0)
  await waitFor(() => published.length === 1, { label: 'the slot' })
  nowMs = slotMs + 30
  loop.clockLearned(0)
  await new Promise(resolve => setImmediate(resolve))
  t.equal(runs, 1)
  nowMs = slotMs + intervalS * 1000 + 1
  loop.clockLearned(0)
  await waitFor(() => published.length === 2, { label: 'the next slot' })
  t.same(
    published.map(result => result.scheduledAtMs),
    [slotMs, slotMs + intervalS * 1000],
  )
})

t.test('A slot that was lost with another probe is checked soon after the monitor moved, and once', async t => {
  const intervalS = 3600
  const slotMs = findSlotFrom(computeSlots('m1', 'eu-west', intervalS), Date.UTC(2026, 7, 1))
  let nowMs = slotMs + 20_000
  const published: Result[] = []
  const loop = startLoop(t, () => nowMs, published)
  const upserts = [assignment('m1', checkSpec('http://127.0.0.1'), { intervalS })]
  const assign = () => loop.apply({ isSnapshot: true, isLast: true, revision: 1, epoch: 1, upserts, removals: [] })
  assign()
  nowMs += 30_000
  loop.clockLearned(0)
  await waitFor(() => published.length === 1, { label: 'the check' })
  t.match(published, [{ trigger: Trigger.SLOT, attempt: 1, scheduledAtMs: slotMs + 45_000 }])
  // the connection was interrupted: the same assignment again
  assign()
  nowMs = slotMs + intervalS * 1_000 - 1
  loop.clockLearned(0)
  await new Promise(resolve => setImmediate(resolve))
  t.equal(published.length, 1)
  nowMs = slotMs + intervalS * 1_000 + 100
  loop.clockLearned(0)
  await waitFor(() => published.length === 2, { label: 'the next slot' })
  t.equal(published[1]!.scheduledAtMs, slotMs + intervalS * 1_000)
})

t.test('A request just after a change joins the check that the change starts', async t => {
  const published: Result[] = []
  const answers: [string, Result][] = []
  const monitors = createAssignedMonitors('eu-west')
  const loop = createCheckLoop({
    monitors,
    clock: { learn: () => 0, nowMs: () => Date.UTC(2026, 7, 1) },
    run: async () => SUCCESS,
    publish: result => published.push(result),
    answer: (runId, result) => answers.push([runId, result]),
    maxConcurrentChecks: 10,
    log: createLog('test', 'silent'),
  })
  t.teardown(() => loop.drain())
  const upserts = [assignment('m1', checkSpec('http://127.0.0.1'), { intervalS: 3600, checkAtOnce: true })]
  loop.apply({ isSnapshot: false, isLast: true, revision: 1, epoch: 1, upserts, removals: [] })
  for (const runId of ['run', 'another']) loop.joinChain(monitors.get('m1')!, Trigger.RUN_NOW, runId)
  await waitFor(() => published.length === 1, { label: 'the check' })
  t.match(published, [{ trigger: Trigger.RUN_NOW, runId: 'run', attempt: 1 }])
  t.same(answers, [
    ['run', published[0]],
    ['another', { ...published[0], runId: 'another' }],
  ])
})

t.test('A request is refused when its check is cancelled before it begins', async t => {
  const answers: [string, string | undefined][] = []
  const monitors = createAssignedMonitors('eu-west')
  const loop = createCheckLoop({
    monitors,
    clock: { learn: () => 0, nowMs: () => Date.UTC(2026, 7, 1) },
    run: () => Promise.reject(new Error('no check was to run')),
    publish() {},
    answer: (runId, result) => answers.push([runId, result.error?.code]),
    maxConcurrentChecks: 0,
    log: createLog('test', 'silent'),
  })
  const ids = ['removed', 'changed', 'stopped', 'not asked for']
  const upserts = ids.map(id => assignment(id, checkSpec('http://127.0.0.1'), { intervalS: 3600 }))
  loop.apply({ isSnapshot: true, isLast: true, revision: 1, epoch: 1, upserts, removals: [] })
  for (const id of ids.slice(0, 3)) loop.startChain(monitors.get(id)!, Trigger.RUN_NOW, `run of ${id}`, 1)
  loop.joinChain(monitors.get('stopped')!, Trigger.RUN_NOW, 'another run of stopped')
  const changed = { ...upserts[1]!, configVersion: 2 }
  loop.apply({ isSnapshot: false, isLast: true, revision: 2, epoch: 1, upserts: [changed], removals: ['removed'] })
  await loop.drain()
  t.same(answers.sort(), [
    ['another run of stopped', 'probe_busy'],
    ['run of changed', 'not_assigned'],
    ['run of removed', 'not_assigned'],
    ['run of stopped', 'probe_busy'],
  ])
})

t.test('A tenant whose checks all hang does not delay another tenant', async t => {
  const intervalS = 30
  let nowMs = Date.UTC(2026, 7, 1)
  const started: string[] = []
  const loop = createCheckLoop({
    monitors: createAssignedMonitors('eu-west'),
    clock: { learn: () => 0, nowMs: () => nowMs },
    run(spec) {
      started.push(spec.url)
      return spec.url === 'hanging' ? new Promise(() => {}) : Promise.resolve(SUCCESS)
    },
    publish() {},
    answer() {},
    maxConcurrentChecks: 5,
    log: createLog('test', 'silent'),
  })
  // not awaited, because the hanging checks never end
  t.teardown(() => void loop.drain())
  const upserts = Array.from({ length: 1_000 }, (_, i) =>
    assignment(`hanging-${i}`, checkSpec('hanging'), { intervalS, tenant: 1 }),
  )
  upserts.push(assignment('well', checkSpec('well'), { intervalS, tenant: 2 }))
  loop.apply({ isSnapshot: true, isLast: true, revision: 1, epoch: 1, upserts, removals: [] })
  const countStarts = (url: string) => started.filter(one => one === url).length
  for (let slot = 1; slot <= 5; slot++) {
    nowMs += intervalS * 1_000
    loop.clockLearned(0)
    await waitFor(() => countStarts('well') === slot, { label: `slot ${slot} of the other tenant` })
  }
  t.equal(countStarts('well'), 5, 'each of its slots is checked')
  t.ok(countStarts('hanging') <= 40, 'the hanging tenant has at most four fifths of the 50 places')
})

t.test('Checks of unassigned monitors are limited to their tenant’s share of permits', async t => {
  let nowMs = Date.UTC(2026, 7, 1)
  const started: string[] = []
  const refused: string[] = []
  const monitors = createAssignedMonitors('eu-west')
  const clock = { learn: () => 0, nowMs: () => nowMs }
  const parts = {
    ...{ monitors, clock, publish() {} },
    answer: (_: string, { error }: Result) => void refused.push(error?.code ?? ''),
  }
  const loop = createCheckLoop({
    ...parts,
    run(spec, { isOfOthers = false }) {
      started.push(spec.url)
      t.equal(isOfOthers, spec.url === 'hanging', 'a check knows whether it is of others')
      return spec.url === 'hanging' ? new Promise(() => {}) : Promise.resolve(SUCCESS)
    },
    maxConcurrentChecks: 5,
    log: createLog('test', 'silent'),
  })
  // not awaited, because the hanging checks never end
  t.teardown(() => void loop.drain())
  const upserts = [assignment('well', checkSpec('well'), { intervalS: 30, tenant: 2 })]
  loop.apply({ isSnapshot: true, isLast: true, revision: 1, epoch: 1, upserts, removals: [] })
  const runNow = createRunNowHandler({ loop, ...parts })
  const request = { monitorId: 'of another', trigger: Trigger.WITNESS, scheduledAtMs: 0, spec: checkSpec('hanging') }
  for (let run = 1; run <= 100; run++) runNow({ ...request, runId: `run ${run}`, tenant: 1 })
  const countStarts = (url: string) => started.filter(one => one === url).length
  t.equal(countStarts('hanging') + refused.length, 100)
  t.match(refused, Array(refused.length).fill('probe_busy'))
  for (let slot = 1; slot <= 3; slot++) {
    nowMs += 30_000
    loop.clockLearned(0)
    await waitFor(() => countStarts('well') === slot, { label: `slot ${slot} of the other tenant` })
  }
  t.ok(countStarts('hanging') <= 4, 'four fifths of the 5 places')
})
