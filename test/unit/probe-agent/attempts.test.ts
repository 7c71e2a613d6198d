import t from 'tap'
import { decideNextAttempt } from '../../../probe-agent/schedule/rechecks/recheck.ts'
import { RegionState } from '../../../proto/gen/probe/v1/fleet.ts'
import { computeUsualSilenceMs } from '../../../shared/checks/rechecks.ts'
import { FailureSource, Outcome, type Result, Trigger } from '../../../shared/checks/result.ts'
import { after, hang, play } from '../../support/chain-scene.ts'

const { UP, DOWN, DEGRADED, UNKNOWN } = Outcome
const { PENDING, OK, FAILING } = RegionState

/** Timers have whole ms, so each may be a little late. */
const isAbout = (ms: readonly number[], expected: readonly number[]) =>
  ms.length === expected.length && ms.every((one, i) => one >= expected[i]! - 1 && one < expected[i]! + 10)

const listAttempts = (published: readonly Result[]) => published.map(({ attempt, outcome }) => [attempt, outcome])

t.test('A target that hangs is failing one timeout after the start of the last attempt', async t => {
  for (const [retryCount, timeoutMs] of [
    [2, 10_000],
    [2, 30_000],
    [5, 3_000],
    [0, 10_000],
  ] as const) {
    const scene = play(() => hang, { retryCount, timeoutMs })
    await scene.time.pass(600_000)
    const silenceMs = computeUsualSilenceMs(timeoutMs)
    const starts = Array.from({ length: retryCount + 1 }, (_, i) => i * silenceMs)
    t.ok(isAbout(scene.startsMs, starts), `${retryCount} re-checks, each ${silenceMs} ms after the attempt before`)
    t.equal(scene.published.length, retryCount + 1)
    t.ok(isAbout([scene.published.at(-1)!.atMs], [starts.at(-1)! + timeoutMs]), 'decided when the last has failed')
    t.equal(scene.state(), FAILING)
  }
})

t.test('Overlapping attempts decide the same as sequential attempts', async t => {
  for (const share of [0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1.01, 1.1, 1.25, 1.5]) {
    for (const retryCount of [0, 1, 2, 5]) {
      for (const outcome of [UP, DOWN, DEGRADED]) {
        const timeoutMs = 9_000
        const scene = play(() => after(share * timeoutMs, outcome), { retryCount, timeoutMs })
        await scene.time.pass(300_000)
        const seen = share < 1 ? outcome : DOWN
        t.equal(scene.state(), stateOneByOne(retryCount, seen), `${share} timeouts, ${retryCount} re-checks`)
        t.ok(scene.maxOpen() <= retryCount + 1, 'no more connections than attempts that may be needed')
        const numbers = scene.published.map(({ attempt }) => attempt)
        t.strictSame(numbers, [...numbers].sort(), 'in the order of the attempts')
      }
    }
  }
})

/** The state of an OK region after a chain of attempts that do not overlap. */
function stateOneByOne(retryCount: number, outcome: Outcome): RegionState {
  const outcomes = [outcome]
  for (;;) {
    const step = decideNextAttempt(OK, retryCount, outcomes)
    if (step.recheckInMs === null) return step.state
    outcomes.push(outcome)
  }
}

t.test('A failure with an answer is re-checked 1 and 3 s after its end', async t => {
  const scene = play(() => after(100, DOWN))
  await scene.time.pass(60_000)
  t.ok(isAbout(scene.startsMs, [0, 1100, 4200]))
  t.equal(scene.state(), FAILING)
  t.strictSame(scene.silentMs, [], 'no other region is asked: the answer itself says enough')
})

t.test('A success ends the chain and cancels later attempts', async t => {
  const scene = play(number => (number === 1 ? after(8_000) : hang))
  await scene.time.pass(60_000)
  t.equal(scene.startsMs.length, 3)
  t.strictSame(listAttempts(scene.published), [[1, UP]])
  t.ok(isAbout([scene.published[0]!.atMs], [8_000]))
  t.equal(scene.state(), OK)
})

t.test('A success of a later attempt cancels the earlier one, whose result says so and does not vote', async t => {
  const scene = play(number => (number === 1 ? hang : after(50)))
  await scene.time.pass(4_000)
  t.equal(scene.startsMs.length, 2)
  t.equal(scene.open(), 0, 'no connection is left')
  t.strictSame(listAttempts(scene.published), [
    [1, UNKNOWN],
    [2, UP],
  ])
  const [first] = scene.published
  const message = 'no answer for 3.4 s; cancelled, because attempt 2 was answered'
  t.match(first, { error: { source: FailureSource.TARGET, code: 'cancelled', message }, totalUs: 3_384_000 })
  t.equal(first!.startedAtMs, scene.published[1]!.startedAtMs - 3_334, 'when it began')
  await scene.time.pass(60_000)
  t.equal(scene.published.length, 2, 'nothing follows')
  t.equal(scene.state(), OK)
})

t.test('A success of the third attempt cancels both before it', async t => {
  const scene = play(number => (number <= 2 ? hang : after(50)))
  await scene.time.pass(60_000)
  t.equal(scene.open(), 0)
  t.strictSame(listAttempts(scene.published), [
    [1, UNKNOWN],
    [2, UNKNOWN],
    [3, UP],
  ])
})

t.test('A fault of the probe in a later attempt cancels nothing: the first one may find the target down', async t => {
  const scene = play(number => (number === 1 ? hang : after(50, UNKNOWN)))
  await scene.time.pass(60_000)
  t.strictSame(listAttempts(scene.published), [
    [1, DOWN],
    [2, UNKNOWN],
    [3, UNKNOWN],
  ])
})

t.test('A silent attempt whose successor succeeded never delays the next slot', async t => {
  const scene = play(number => (number === 1 ? hang : after(50)), { timeoutMs: 30_000, intervalS: 20 })
  await scene.time.pass(100_000)
  t.strictSame(listAttempts(scene.published).slice(0, 2), [
    [1, UNKNOWN],
    [2, UP],
  ])
  const slots = scene.published.map(({ scheduledAtMs }) => scheduledAtMs)
  const gaps = slots.slice(3).map((ms, i) => ms - slots[i + 2]!)
  t.ok(gaps.length >= 3)
  t.ok(
    gaps.every(ms => ms === 20_000),
    'every slot is checked',
  )
})

t.test('An attempt that hangs counts after its full timeout, not before', async t => {
  const scene = play(number => (number === 1 ? hang : after(10, DOWN)))
  await scene.time.pass(9_900)
  t.strictSame(scene.published, [], 'the failures of the others wait for the first')
  t.equal(scene.startsMs.length, 3)
  await scene.time.pass(50_000)
  t.strictSame(listAttempts(scene.published), [
    [1, DOWN],
    [2, DOWN],
    [3, DOWN],
  ])
  t.ok(isAbout([scene.published.at(-1)!.atMs], [10_000]))
  t.equal(scene.state(), FAILING)
})

t.test('A failing region gets one attempt a slot, even when the target is silent', async t => {
  const scene = play(() => hang, { state: FAILING, intervalS: 30 })
  await scene.time.pass(100_000)
  t.equal(scene.maxOpen(), 1)
  t.ok(scene.published.every(({ attempt }) => attempt === 1))
  t.strictSame(scene.silentMs, [], 'no other region is asked')
})

t.test('Other regions are asked once per chain, when the first attempt is silent', async t => {
  for (const retryCount of [0, 2]) {
    const scene = play(() => hang, { retryCount })
    await scene.time.pass(60_000)
    t.ok(isAbout(scene.silentMs, [3333]))
  }
})

t.test('A slow target soon gets one attempt a slot again', async t => {
  const scene = play(() => after(6_000), { intervalS: 30 })
  await scene.time.pass(3_600_000)
  t.ok(scene.published.length >= 115)
  t.equal(scene.startsMs.length, scene.published.length + 1, 'a second attempt at the first slot only')
})

t.test(
  'A target that is slow now and then gets a second attempt only then, and the silence is in the history',
  async t => {
    const scene = play(number => after(number % 10 === 1 ? 6_000 : 50), { intervalS: 30 })
    await scene.time.pass(3_600_000)
    const silent = scene.published.filter(({ error }) => error?.code === 'cancelled')
    const slow = scene.startsMs.filter((_, i) => i % 10 === 0)
    t.equal(silent.length, slow.length)
    t.equal(scene.startsMs.length, scene.published.length)
    t.equal(scene.published.filter(({ attempt }) => attempt === 2).length, slow.length)
  },
)

t.test('A removed monitor starts no further attempt, and its running attempts are published', async t => {
  const scene = play(() => hang)
  await scene.time.pass(5_000)
  t.equal(scene.startsMs.length, 2)
  scene.remove()
  await scene.time.pass(60_000)
  t.equal(scene.startsMs.length, 2)
  t.strictSame(listAttempts(scene.published), [
    [1, DOWN],
    [2, DOWN],
  ])
})

t.test('An hourly monitor does not wait an hour for its first state after an internal failure', async t => {
  const scene = play(number => after(10, number <= 5 ? UNKNOWN : UP), { state: PENDING })
  await scene.time.pass(180_000)
  t.strictSame(
    scene.published.map(({ outcome }) => outcome),
    [UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UP],
    'two attempts each time, and again after half a minute',
  )
  t.ok(scene.startsMs[2]! - scene.startsMs[1]! >= 30_000)
  t.ok(isAbout([scene.startsMs.at(-1)!], [scene.startsMs[4]! + 1_010]), 'and then once an hour')
})

t.test('A second opinion starts at once after a success cancelled a silent attempt', async t => {
  const scene = play(number => (number === 1 ? hang : number === 2 ? after(50) : after(50, DOWN)))
  await scene.time.pass(4_000)
  scene.askForOpinion()
  await scene.time.pass(100)
  t.same(
    scene.published.slice(1).map(({ outcome, trigger }) => [outcome, trigger]),
    [
      [UP, Trigger.SLOT],
      [DOWN, Trigger.SECOND_OPINION],
    ],
  )
  await scene.time.pass(20_000)
  t.equal(scene.state(), FAILING)
})

t.test('A region with doubted failures checks again after 30 s, even when its slot is an hour away', async t => {
  const doubted = play(() => after(40, DOWN), { isDoubted: true })
  await doubted.time.pass(70_000)
  t.same(
    doubted.published.map(({ attempt, doubted }) => [attempt, doubted]),
    [
      [1, true],
      [2, true],
      [3, true],
      [1, true],
      [1, true],
    ],
  )
  t.ok(isAbout(doubted.startsMs.slice(3), [34_121, 64_161]), `${doubted.startsMs}`)

  const sure = play(() => after(40, DOWN))
  await sure.time.pass(70_000)
  t.equal(sure.published.length, 3)
})

t.test(
  'A check whose resolver or network failed is repeated after 1, 2, 4 ... minutes until the next slot',
  async t => {
    const MINUTE_MS = 60_000
    const answers = [UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UP, UNKNOWN, UP]
    const scene = play(number => after(2, answers[number - 1] ?? UP), { retryCount: 0 })
    await scene.time.pass(17 * MINUTE_MS)
    const waitsMs = scene.startsMs.slice(1).map((ms, i) => ms - scene.startsMs[i]!)
    t.ok(
      isAbout(
        waitsMs.slice(0, 4),
        [1, 2, 4, 8].map(minutes => minutes * MINUTE_MS),
      ),
      `${waitsMs}`,
    )
    t.equal(scene.startsMs.length, 5, 'a success waits for its slot')
    await scene.time.pass(60 * MINUTE_MS)
    const [slotMs, repeatedMs] = scene.startsMs.slice(5)
    t.ok(isAbout([repeatedMs! - slotMs!], [MINUTE_MS]), 'after a success the waits begin again')

    const minutely = play(() => after(40, UNKNOWN), { retryCount: 0, intervalS: 60 })
    await minutely.time.pass(10 * MINUTE_MS)
    t.ok(minutely.startsMs.length <= 12, `a slot is never later: ${minutely.startsMs}`)
    t.ok(minutely.startsMs.length >= 10, 'and never left out')
  },
)
