import t from 'tap'
import { isTimeZone } from '../../../../control-plane/foundation/web/validation/time-zone.ts'
import {
  findNextPeriod,
  findPeriodAt,
  type MaintenanceSchedule,
  validateCron,
} from '../../../../control-plane/verdict/maintenance/schedule.ts'

const NIGHTLY: MaintenanceSchedule = {
  cron: '30 2 * * *',
  durationMinutes: 60,
  timeZone: 'UTC',
  startsAt: null,
  endsAt: null,
}
const date = (text: string) => new Date(`${text.replace(' ', 'T')}:00Z`)
const write = (at: Date) => at.toISOString().slice(0, 16).replace('T', ' ')

/** The next periods after a moment, in UTC. */
function listPeriods(schedule: MaintenanceSchedule, after: string, count: number): string[] {
  const found: string[] = []
  let from = date(after)
  for (let i = 0; i < count; i++) {
    const period = findNextPeriod(schedule, from)
    if (period === null) break
    found.push(`${write(period.startsAt)} to ${write(period.endsAt).slice(11)}`)
    from = period.startsAt
  }
  return found
}

/** Across changes to daylight saving time: the length stays, and the start follows local time. */
const CLOCKS: [title: string, cron: string, timeZone: string, after: string, expected: string[]][] = [
  [
    'Berlin in spring: 02:30 does not exist, and the night still has its period',
    '30 2 * * *',
    'Europe/Berlin',
    '2026-03-27 12:00',
    ['2026-03-28 01:30 to 02:30', '2026-03-29 01:00 to 02:00', '2026-03-30 00:30 to 01:30'],
  ],
  [
    'Berlin in autumn: 02:30 happens twice, and the period once',
    '30 2 * * *',
    'Europe/Berlin',
    '2026-10-23 12:00',
    ['2026-10-24 00:30 to 01:30', '2026-10-25 00:30 to 01:30', '2026-10-26 01:30 to 02:30'],
  ],
  [
    'Berlin in spring, twice a day: the night still has its period',
    '30 2,14 * * *',
    'Europe/Berlin',
    '2026-03-28 13:30',
    ['2026-03-29 01:00 to 02:00', '2026-03-29 12:30 to 13:30', '2026-03-30 00:30 to 01:30'],
  ],
  [
    'Berlin in autumn, twice a day: the night has one period',
    '30 2,14 * * *',
    'Europe/Berlin',
    '2026-10-24 12:30',
    ['2026-10-25 00:30 to 01:30', '2026-10-25 13:30 to 14:30', '2026-10-26 01:30 to 02:30'],
  ],
  [
    'New York in spring',
    '30 2 * * *',
    'America/New_York',
    '2026-03-06 12:00',
    ['2026-03-07 07:30 to 08:30', '2026-03-08 07:00 to 08:00', '2026-03-09 06:30 to 07:30'],
  ],
  [
    'New York in autumn',
    '30 1 * * *',
    'America/New_York',
    '2026-10-30 12:00',
    ['2026-10-31 05:30 to 06:30', '2026-11-01 05:30 to 06:30', '2026-11-02 06:30 to 07:30'],
  ],
  [
    'every Sunday at four, over the change',
    '0 4 * * 0',
    'Europe/Berlin',
    '2026-03-21 00:00',
    ['2026-03-22 03:00 to 04:00', '2026-03-29 02:00 to 03:00', '2026-04-05 02:00 to 03:00'],
  ],
]

for (const [title, cron, timeZone, after, expected] of CLOCKS) {
  t.test(title, async t => {
    t.same(listPeriods({ ...NIGHTLY, cron, timeZone }, after, expected.length), expected)
  })
}

t.test('a window with bounds does not exceed them', async t => {
  const bounded = { ...NIGHTLY, startsAt: date('2026-05-02 02:30'), endsAt: date('2026-05-04 03:00') }
  t.same(listPeriods(bounded, '2026-05-01 00:00', 5), [
    '2026-05-02 02:30 to 03:30',
    '2026-05-03 02:30 to 03:30',
    '2026-05-04 02:30 to 03:00',
  ])
  t.same(listPeriods({ ...bounded, startsAt: date('2026-05-03 02:31') }, '2026-05-01 00:00', 5), [
    '2026-05-04 02:30 to 03:00',
  ])
})

t.test('a period contains its start but not its end', async t => {
  const rows: [string, string | null][] = [
    ['2026-05-02 02:29', null],
    ['2026-05-02 02:30', '2026-05-02 02:30'],
    ['2026-05-02 03:29', '2026-05-02 02:30'],
    ['2026-05-02 03:30', null],
  ]
  const once = {
    cron: null,
    durationMinutes: null,
    timeZone: null,
    startsAt: date('2026-05-02 02:30'),
    endsAt: date('2026-05-02 03:30'),
  }
  for (const [moment, expected] of rows) {
    for (const schedule of [NIGHTLY, once]) {
      const period = findPeriodAt(schedule, date(moment))
      t.equal(period && write(period.startsAt), expected, moment)
    }
  }
  t.same(listPeriods(once, '2026-05-02 02:29', 3), ['2026-05-02 02:30 to 03:30'])
  t.same(listPeriods(once, '2026-05-02 02:30', 3), [])
})

t.test('a cron expression must have five fields without ? and @', async t => {
  for (const cron of ['* * * * *', '*/5 0-4 1,15 * MON-FRI', '0 0 L * *', '0 3 * * 5#2'])
    t.equal(validateCron(cron), null, cron)
  for (const cron of ['', '* * * *', '* * * * * *', '@daily', '? * * * *', '61 * * * *', 'a b c d e', '5-1 * * * *']) {
    t.type(validateCron(cron), 'string', cron)
  }
  for (const cron of ['0 0 * * WED', '0 0 15 JAN-MAR wed,THU']) t.equal(validateCron(cron), null, cron)
  for (const cron of ['0 0 15W * *', '0 0 1,lw * *', '0 0 13 * +5', '0 0 LW * *'])
    t.match(validateCron(cron), /^must not have \+ or a W/, cron)
})

t.test('the search for a period ends after 50 years, also for a stored window that never begins', async t => {
  const leap = { ...NIGHTLY, cron: '0 0 29 2 +1' }
  t.same(listPeriods(leap, '2026-11-01 00:00', 2), ['2044-02-29 00:00 to 01:00', '2072-02-29 00:00 to 01:00'])
  t.same(listPeriods(leap, '2089-11-01 00:00', 1), ['2112-02-29 00:00 to 01:00'])
  const never = { ...NIGHTLY, cron: '* * 29W,30W,31W * +0#1,1#1,2#1,3#1,4#1,5#1,6#1' }
  let examined = 0
  const convert = Date.UTC
  // not t.capture: it keeps a stack trace of each call
  t.teardown(() => Object.assign(Date, { UTC: convert }))
  Date.UTC = (...parts) => {
    examined++
    return convert(...parts)
  }
  t.equal(findNextPeriod(never, date('2026-11-21 10:00')), null)
  t.ok(examined < 600_000, `${examined} dates were examined`)
})

t.test('a time zone must be an IANA name', async t => {
  for (const name of ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires']) t.ok(isTimeZone(name), name)
  for (const name of ['', '+02:00', 'Mars/Olympus', 'Europe/Berlin ', '../etc/passwd']) t.notOk(isTimeZone(name), name)
})
