import t from 'tap'
import { checkWarnings, computeDaysLeft } from '../../../../control-plane/verdict/expiry/warning-schedule.ts'

const DAY_MS = 86_400_000
const now = new Date('2026-11-21T12:00:00Z')
const inDays = (days: number) => new Date(now.getTime() + days * DAY_MS)

t.test('a warning is due at 30, 14, 7, 3 and 1 days, once each, and only the nearest of several', async t => {
  const rows: [what: string, left: number, sent: number | null, warn: number | null, nextInDays: number | null][] = [
    ['far away', 90, null, null, 60],
    ['just before the first', 30.001, null, null, 0.001],
    ['at the first', 30, null, 30, 16],
    ['already sent', 29.9, 30, null, 15.9],
    ['between', 20, 30, null, 6],
    ['new, between', 20, null, 30, 6],
    ['at the second', 14, 30, 14, 7],
    ['at the third', 7, 14, 7, 4],
    ['at the fourth', 3, 7, 3, 2],
    ['at the last', 1, 3, 1, null],
    ['after the last', 0.5, 1, null, null],
    ['jumped over two', 5, 30, 7, 2],
    ['jumped over all', 0.2, 30, 1, null],
    ['new and nearly expired', 2, null, 3, 1],
    ['expired, nothing sent', -3, null, 1, null],
    ['expired, last sent at three days', -0.1, 3, 1, null],
    ['expired, already sent', -400, 1, null, null],
  ]
  for (const [what, left, sent, warn, nextInDays] of rows) {
    const nextLookAt = nextInDays === null ? null : inDays(nextInDays)
    t.same(checkWarnings(inDays(left), sent, now), { warn, nextLookAt }, what)
  }
})

t.test('repeated checks from 40 days before the end warn five times at any pace', async t => {
  for (const stepHours of [1, 5, 23]) {
    const sent: number[] = []
    const end = inDays(40)
    for (let hours = 0; hours < 45 * 24; hours += stepHours) {
      const { warn } = checkWarnings(end, sent.at(-1) ?? null, new Date(now.getTime() + hours * 3_600_000))
      if (warn !== null) sent.push(warn)
    }
    t.same(sent, [30, 14, 7, 3, 1], `every ${stepHours} h`)
  }
})

t.test('checking at the returned times misses no threshold', async t => {
  const sent: number[] = []
  let at: Date | null = now
  while (at) {
    const look = checkWarnings(inDays(40), sent.at(-1) ?? null, at)
    if (look.warn !== null) sent.push(look.warn)
    at = look.nextLookAt
  }
  t.same(sent, [30, 14, 7, 3, 1])
})

t.test('days are rounded up, and an expired one has a negative number of days', async t => {
  const rows: [left: number, days: number][] = [
    [30, 30],
    [29.9999, 30],
    [0.2, 1],
    [0, 0],
    [-0.5, 0],
    [-1.5, -1],
    [-3, -3],
  ]
  for (const [left, days] of rows) t.equal(Object.is(computeDaysLeft(inDays(left), now), days), true, `${left}`)
})
