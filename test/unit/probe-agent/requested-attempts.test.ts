import t from 'tap'
import type { AssignedMonitor } from '../../../probe-agent/schedule/assigned-monitors.ts'
import { resolveChainTime } from '../../../probe-agent/schedule/check-times.ts'
import { RegionState } from '../../../proto/gen/probe/v1/fleet.ts'
import { Outcome, Trigger } from '../../../shared/checks/result.ts'
import { after, hang, play } from '../../support/chain-scene.ts'

const { UP, DOWN, UNKNOWN } = Outcome
const { OK, FAILING } = RegionState
const TIMEOUT_MS = 9_000

/** The reactions of a target to its attempts, in their order; the last one to all further attempts. */
const up = after(100)
const refusal = after(10, DOWN)
const slow = after(8_000)
const late = after(5_000, DOWN)
const unknown = after(20, UNKNOWN)
const TARGETS: [what: string, answers: ReturnType<typeof after>[]][] = [
  ['answers', [up]],
  ['answers slowly', [slow]],
  ['fails slowly', [late]],
  ['refuses', [refusal]],
  ['hangs', [hang]],
  ['hangs once', [hang, up]],
  ['hangs, then refuses', [hang, refusal]],
  ['recovers, then hangs', [up, hang]],
  ['recovers between two failures', [refusal, up, refusal]],
  ['cannot be judged at first', [unknown, unknown, hang]],
  ['hangs, then cannot be judged', [hang, unknown, unknown, up]],
]

t.test(
  'Requests while a chain runs get a result that began later, and neither a connection nor a verdict changes',
  async t => {
    for (const [what, answers] of TARGETS) {
      for (const retryCount of [0, 1, 2, 5]) {
        for (const state of [OK, FAILING]) {
          const title = `a target that ${what}, ${retryCount} re-checks, ${state === OK ? 'ok' : 'failing'}`
          const react = (number: number) => answers[number - 1] ?? answers.at(-1)!
          const alone = play(react, { retryCount, state, timeoutMs: TIMEOUT_MS })
          await alone.time.pass(25_000)
          const asked = play(react, { retryCount, state, timeoutMs: TIMEOUT_MS })
          const askedMs = new Map<string, number>()
          const endMs = alone.published.at(-1)!.atMs
          const regularly = Array.from({ length: Math.ceil(endMs / 700) }, (_, i) => 1 + i * 700)
          const justAfter = alone.published.map(({ atMs }) => atMs + 1)
          for (const ms of [...regularly, ...justAfter].filter(ms => ms < endMs).sort((a, b) => a - b)) {
            await asked.time.pass(ms - asked.time.monotonicMs())
            askedMs.set(`run ${askedMs.size + 1}`, ms)
            asked.ask(`run ${askedMs.size}`)
          }
          await asked.time.pass(100_000)
          t.same(asked.published.slice(0, alone.published.length), alone.published, `${title}: the same attempts`)
          t.ok(asked.maxOpen() <= retryCount + 1, `${title}: ${asked.maxOpen()} connections`)
          t.same(
            new Set(asked.answers.map(({ runId }) => runId)),
            new Set(askedMs.keys()),
            `${title}: all are answered`,
          )
          t.equal(asked.answers.length, askedMs.size, `${title}: each once`)
          for (const { runId, result, atMs } of asked.answers) {
            const waitedMs = atMs - askedMs.get(runId)!
            const isNew = result.startedAtMs >= asked.toTimeMs(askedMs.get(runId)!)
            const isInTime = waitedMs <= TIMEOUT_MS + 5_000
            t.ok(isInTime && (isNew || waitedMs === TIMEOUT_MS + 3_000), `${title}: ${runId} after ${waitedMs} ms`)
          }
        }
      }
    }
  },
)

t.test('A request while the last attempt hangs gets the result of a new chain', async t => {
  const scene = play(number => (number === 1 ? hang : up), { retryCount: 0, timeoutMs: TIMEOUT_MS })
  await scene.time.pass(3_000)
  for (const runId of ['one', 'another']) scene.ask(runId)
  await scene.time.pass(20_000)
  t.equal(scene.startsMs.length, 2, 'both requests share a check')
  t.match(
    scene.answers.map(({ runId, result }) => [runId, result.outcome, result.trigger]),
    [
      ['one', UP, Trigger.RUN_NOW],
      ['another', UP, Trigger.RUN_NOW],
    ],
  )
  t.ok(
    scene.answers.every(({ atMs }) => atMs < TIMEOUT_MS + 200),
    'at once after the attempt that hangs',
  )
  t.match(scene.published.at(-1), { trigger: Trigger.RUN_NOW, runId: 'one' }, 'it counts for the verdict')
})

t.test('When the new chain hangs too, the earlier result is the answer, before the API stops to wait', async t => {
  const scene = play(() => hang, { retryCount: 0, timeoutMs: TIMEOUT_MS })
  await scene.time.pass(3_000)
  scene.ask('run')
  await scene.time.pass(60_000)
  t.match(scene.answers, [{ runId: 'run', result: { outcome: DOWN, runId: 'run' }, atMs: 3_000 + TIMEOUT_MS + 3_000 }])
  t.equal(scene.answers.length, 1, 'once')
})

t.test('A request is answered by a later attempt when the first one is cancelled', async t => {
  const scene = play(number => (number === 2 ? hang : after(50)), { timeoutMs: 30_000, intervalS: 20 })
  await scene.time.pass(1_000)
  scene.ask('run')
  await scene.time.pass(60_000)
  t.match(scene.answers, [{ runId: 'run', result: { outcome: UP } }])
  t.equal(scene.answers.length, 1, 'once')
})

t.test('A probe that is leaving answers with the newest result since the request, and starts no chain', async t => {
  const scene = play(number => (number === 1 ? hang : refusal), { retryCount: 1, timeoutMs: TIMEOUT_MS })
  await scene.time.pass(5_000)
  scene.ask('run')
  scene.leave()
  scene.ask('too late')
  await scene.time.pass(60_000)
  t.match(scene.answers, [
    { runId: 'too late', result: { error: { code: 'probe_busy' } } },
    { runId: 'run', result: { attempt: 1, outcome: DOWN } },
  ])
  t.equal(scene.startsMs.length, 2)
})

t.test('Requests do not make the wait after a check that cannot be judged longer', async t => {
  const scene = play(() => unknown, { retryCount: 0 })
  await scene.time.pass(10)
  scene.ask('run')
  await scene.time.pass(100_000)
  const [, requested, next] = scene.startsMs
  t.equal(scene.startsMs.length, 3)
  t.ok(requested! < 100 && next! >= 60_000 && next! < 61_000, `the next check after ${next} ms`)
})

t.test('A check on demand has a later time than the chain before', async t => {
  const cases: [what: string, lastScheduledMs: number, requestedMs: number, nowMs: number, expected: number][] = [
    ['the requested time', 1_000, 5_000, 5_010, 5_000],
    ['a request from the future: now', 1_000, 6_000, 5_010, 5_010],
    ['a request before the last chain: now', 5_005, 5_000, 5_010, 5_010],
    ['the same millisecond as the last chain', 5_010, 0, 5_010, 5_011],
    ['a clock that a sample moved back', 5_040, 0, 5_010, 5_041],
  ]
  for (const [what, lastScheduledMs, requestedMs, nowMs, expected] of cases)
    t.equal(resolveChainTime({ lastScheduledMs } as AssignedMonitor, requestedMs, nowMs), expected, what)
})

t.test('A monitor that is changed while its target hangs gets no additional connections', async t => {
  for (const what of ['changed', 'removed and assigned again']) {
    const scene = play(() => hang, { retryCount: 2, timeoutMs: TIMEOUT_MS })
    for (let version = 2; version <= 11; version++) {
      await scene.time.pass(1_000)
      scene.ask(`run ${version}`)
      if (what !== 'changed') scene.remove()
      scene.change(version)
    }
    const changedMs = scene.time.monotonicMs()
    t.ok(scene.maxOpen() <= 3, `${what}: ${scene.maxOpen()} connections`)
    t.equal(scene.answers.length, 10, `${what}: each request is refused, so that it is sent again`)
    t.ok(scene.answers.every(({ result }) => result.error?.code === 'not_assigned'))
    t.equal(scene.published.length, 0, `${what}: no result of an older version`)
    await scene.time.pass(60_000)
    t.same(
      scene.published.map(({ configVersion, attempt }) => [configVersion, attempt]),
      [1, 2, 3].map(attempt => [11, attempt]),
    )
    t.ok(scene.published.at(-1)!.atMs < changedMs + 2 * 3_000 + TIMEOUT_MS + 100, `${what}: decided in time`)
    t.equal(scene.maxOpen(), 3)
  }
})

t.test('Attempts of a monitor that is assigned again in the same version go on, because they count', async t => {
  const scene = play(number => (number <= 2 ? late : up), { retryCount: 0, timeoutMs: TIMEOUT_MS })
  await scene.time.pass(1_000)
  scene.remove()
  scene.change(1)
  await scene.time.pass(20_000)
  t.same(
    scene.published.map(({ outcome }) => outcome),
    [DOWN, DOWN],
    'that of the removed monitor too',
  )
})

t.test('A repeated request is answered once, and more than 100 are refused', async t => {
  const scene = play(() => slow, { timeoutMs: TIMEOUT_MS })
  await scene.time.pass(100)
  for (let i = 0; i < 102; i++) scene.ask(`run ${i}`)
  scene.ask('run 0')
  t.same(
    scene.answers.map(({ runId, result }) => [runId, result.error?.code]),
    [
      ['run 100', 'probe_busy'],
      ['run 101', 'probe_busy'],
    ],
  )
  await scene.time.pass(60_000)
  t.equal(scene.answers.length, 102)
})

t.test('A request is refused when the monitor is removed before an attempt starts for it', async t => {
  for (const answer of [refusal, hang]) {
    const scene = play(() => answer)
    await scene.time.pass(100)
    scene.ask('run')
    scene.remove()
    await scene.time.pass(60_000)
    t.match(scene.answers, [{ runId: 'run', result: { outcome: UNKNOWN, error: { code: 'not_assigned' } } }])
    t.equal(scene.answers.length, 1, 'once')
  }
})
