import t from 'tap'
import { targetKey, targetUrl } from '../../../control-plane/canaries/address.ts'
import {
  isFailing,
  latestOutage,
  nextStart,
  type Schedule,
  scheduleProblem,
  settledOutages,
} from '../../../control-plane/canaries/schedule.ts'
import { createSigner } from '../../../control-plane/platform/signer.ts'
import { REGIONS } from '../../../shared/check.ts'

const schedule = (region: Schedule['region'], everySeconds = 1_800, forSeconds = 180): Schedule => ({
  region,
  everySeconds,
  forSeconds,
})
const at = (time: string) => new Date(`2026-11-21T${time}Z`)
const timeOf = (date: Date) => date.toISOString().slice(11, 19)

t.test('a canary fails for three minutes in every thirty, by the clock alone', async t => {
  const rows: [string, boolean][] = [
    ['09:59:59.999', false],
    ['10:00:00.000', true],
    ['10:02:59.999', true],
    ['10:03:00.000', false],
    ['10:29:59.999', false],
    ['10:30:00.000', true],
  ]
  for (const [time, expected] of rows) t.equal(isFailing(schedule('us-east'), at(time)), expected, time)
  t.equal(timeOf(nextStart(schedule('us-east'), at('10:00:00'))), '10:30:00')
  t.equal(timeOf(nextStart(schedule('us-east'), at('10:29:59'))), '10:30:00')
})

t.test('regions take turns, so that no two fail together while there is room', async t => {
  const starts = REGIONS.map(region => timeOf(latestOutage(schedule(region), at('10:29:00')).startedAt))
  t.same(starts, ['10:00:00', '10:05:00', '10:10:00', '10:15:00', '10:20:00', '10:25:00'])
})

t.test('a failure is settled seven minutes after its end, and before the next one in any case', async t => {
  const settled = (everySeconds: number) =>
    timeOf(latestOutage(schedule('us-east', everySeconds), at('10:00:00')).settledAt)
  t.equal(settled(1_800), '10:10:00')
  t.equal(settled(360), '10:06:00')
})

t.test('what is settled is listed once it is, oldest first, and nothing from before', async t => {
  const list = (after: string, now: string) =>
    settledOutages(schedule('us-east'), at(after), at(now)).map(({ startedAt }) => timeOf(startedAt))
  t.same(list('08:59:00', '10:40:00'), ['09:00:00', '09:30:00', '10:00:00', '10:30:00'])
  t.same(list('08:59:00', '10:39:59'), ['09:00:00', '09:30:00', '10:00:00'])
  t.same(list('10:00:00', '10:40:00'), ['10:30:00'], 'the one at that very moment was before')
  t.same(list('10:10:00', '10:29:00'), [])
})

t.test('a schedule leaves time to see a failure and to recover', async t => {
  const problem = (everySeconds: number, forSeconds: number) => scheduleProblem({ everySeconds, forSeconds })
  t.equal(problem(1_800, 180), null)
  t.equal(problem(20, 10), null)
  for (const seconds of [9, 601, 30.5, Number.NaN]) t.match(problem(1_800, seconds), /lasts from 10 to 600 seconds/)
  for (const seconds of [359, 86_401, Number.NaN])
    t.match(problem(seconds, 180), /are from 360 .* to 86400 seconds apart/)
})

t.test('an address names its schedule, and its key vouches for every part of it', async t => {
  const sign = createSigner(Buffer.alloc(32, 1), 'canaries')
  const mine = schedule('eu-west')
  const url = new URL(targetUrl('https://picket.test', mine, sign))
  t.equal(url.pathname, '/canary/eu-west')
  t.match(Object.fromEntries(url.searchParams), { every: '1800', for: '180', key: /^[\w-]{43}$/ })
  const others = [schedule('us-east'), schedule('eu-west', 3_600), schedule('eu-west', 1_800, 60)]
  const keys = [mine, ...others].map(one => targetKey(one, sign))
  t.equal(new Set([...keys, targetKey(mine, createSigner(Buffer.alloc(32, 2), 'canaries'))]).size, 5)
})
