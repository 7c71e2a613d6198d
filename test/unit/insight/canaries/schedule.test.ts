import t from 'tap'
import { createSigner } from '../../../../control-plane/foundation/platform/crypto/signer.ts'
import { buildTargetUrl, signTarget } from '../../../../control-plane/insight/canaries/canary-urls.ts'
import {
  type CanarySchedule,
  computeNextStart,
  FAILURE_KINDS,
  findScheduleProblem,
  getLatestOutage,
  isFailing,
  listSettledOutages,
  parseFailureKinds,
} from '../../../../control-plane/insight/canaries/schedule.ts'
import { REGIONS } from '../../../../shared/checks/check.ts'

const schedule = (region: CanarySchedule['region'], everySeconds = 1_800, forSeconds = 180): CanarySchedule => ({
  region,
  everySeconds,
  forSeconds,
  kinds: ['status'],
})
const at = (time: string) => new Date(`2026-11-21T${time}Z`)
const formatMinute = (date: Date) => date.toISOString().slice(11, 16)

/** the failure of us-east that begins within half a minute after 10:00 */
const ten = getLatestOutage(schedule('us-east'), at('10:01:00'))
const after = (date: Date, ms: number) => new Date(date.getTime() + ms)

t.test('A canary fails for three minutes in every thirty, by the clock', async t => {
  const rows: [Date, boolean][] = [
    [at('09:59:59.999'), false],
    [after(ten.startedAt, -1), false],
    [ten.startedAt, true],
    [after(ten.startedAt, 179_999), true],
    [after(ten.startedAt, 180_000), false],
    [at('10:29:59.999'), false],
    [at('10:31:00'), true],
  ]
  for (const [time, expected] of rows) t.equal(isFailing(schedule('us-east'), time), expected, time.toISOString())
  t.same(computeNextStart(schedule('us-east'), at('09:59:59')), ten.startedAt)
  t.equal(formatMinute(computeNextStart(schedule('us-east'), ten.startedAt)), '10:30')
})

t.test('Failures have the kinds of the schedule in turn', async t => {
  const mine: CanarySchedule = { ...schedule('us-east'), kinds: FAILURE_KINDS }
  let start = computeNextStart(mine, at('10:00:00'))
  const kinds = []
  for (let i = 0; i < 10; i++) {
    kinds.push(getLatestOutage(mine, start).kind)
    start = computeNextStart(mine, start)
  }
  t.same(new Set(kinds.slice(0, 5)), new Set(FAILURE_KINDS), 'each once')
  t.same(kinds.slice(5), kinds.slice(0, 5), 'and again in the same order')
  t.equal(getLatestOutage({ ...mine, kinds: ['hang'] }, start).kind, 'hang')
})

t.test('Kinds are parsed from a list with commas', async t => {
  t.same(parseFailureKinds('hang,status'), ['hang', 'status'])
  for (const text of ['', 'hang,', 'hang,hang', 'Hang', 'hang wrong']) t.equal(parseFailureKinds(text), null, text)
})

t.test('Regions take turns and do not fail together', async t => {
  const starts = REGIONS.map(region => formatMinute(getLatestOutage(schedule(region), at('10:29:00')).startedAt))
  t.same(starts, ['10:00', '10:05', '10:10', '10:15', '10:20', '10:25'])
})

t.test('Failures and checks meet at every distance', async t => {
  for (const [everySeconds, forSeconds, room] of [
    [1_800, 180, 30],
    [1_830, 180, 30],
    [86_400, 600, 30],
    [60, 20, 20],
  ] as const) {
    const mine = schedule('us-east', everySeconds, forSeconds)
    const starts: Date[] = [computeNextStart(mine, at('10:00:00'))]
    while (starts.length < 60) starts.push(computeNextStart(mine, starts.at(-1)!))
    const delays = starts.map(start => (start.getTime() / 1_000) % everySeconds).sort((a, b) => a - b)
    t.ok(delays[0]! >= 0 && delays.at(-1)! < room)
    const gaps = [...delays, room].map((delay, i) => delay - (delays[i - 1] ?? 0))
    t.ok(Math.max(...gaps) < (2.7 * room) / 60, `every ${everySeconds} s the widest gap is ${Math.max(...gaps)} s`)
    t.ok(starts.every((start, i) => i === 0 || +start - +starts[i - 1]! > forSeconds * 1_000))
  }
})

t.test('A failure is settled seven minutes after its end, or when the next one begins', async t => {
  t.same(ten.settledAt, after(ten.endedAt, 420_000))
  const often = getLatestOutage(schedule('us-east', 360), at('10:01:00'))
  t.same(often.settledAt, computeNextStart(schedule('us-east', 360), at('10:01:00')))
})

t.test('Settled failures are listed oldest first, without earlier ones', async t => {
  const list = (from: Date, now: Date) =>
    listSettledOutages(schedule('us-east'), from, now).map(({ startedAt }) => formatMinute(startedAt))
  t.same(list(at('08:59:00'), ten.settledAt), ['09:00', '09:30', '10:00'])
  t.same(list(at('08:59:00'), after(ten.settledAt, -1)), ['09:00', '09:30'])
  t.same(list(ten.startedAt, at('10:41:00')), ['10:30'], 'a failure at exactly that time is not listed')
  t.same(list(at('10:10:00'), at('10:29:00')), [])
})

t.test('A schedule leaves time to detect a failure and to recover', async t => {
  const problem = (everySeconds: number, forSeconds: number) => findScheduleProblem({ everySeconds, forSeconds })
  t.equal(problem(1_800, 180), null)
  t.equal(problem(20, 10), null)
  for (const seconds of [9, 601, 30.5, Number.NaN]) t.match(problem(1_800, seconds), /must last 10 to 600 seconds/)
  for (const seconds of [359, 86_401, Number.NaN])
    t.match(problem(seconds, 180), /must be 360 .* to 86400 seconds apart/)
})

t.test('An address contains its schedule, and its key signs every part of it', async t => {
  const sign = createSigner(Buffer.alloc(32, 1), 'canaries')
  const mine = schedule('eu-west')
  const url = new URL(buildTargetUrl('https://picket.test', mine, sign))
  t.equal(url.pathname, '/canary/eu-west')
  t.match(Object.fromEntries(url.searchParams), { every: '1800', for: '180', key: /^[\w-]{43}$/ })
  const others = [schedule('us-east'), schedule('eu-west', 3_600), schedule('eu-west', 1_800, 60)]
  const keys = [mine, ...others].map(one => signTarget(one, sign))
  t.equal(new Set([...keys, signTarget(mine, createSigner(Buffer.alloc(32, 2), 'canaries'))]).size, 5)
})
