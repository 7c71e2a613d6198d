import t from 'tap'
import { planNextPeriod, planPeriodsFrom } from '../../../../control-plane/verdict/maintenance/period-plan.ts'
import type { MaintenanceSchedule } from '../../../../control-plane/verdict/maintenance/schedule.ts'
import { validateSchedule } from '../../../../control-plane/verdict/maintenance/schedule-validation.ts'

const NOW = new Date('2026-11-21T10:00:00Z')
const at = (hours: number) => new Date(NOW.getTime() + hours * 3_600_000)
const ONCE: MaintenanceSchedule = { cron: null, durationMinutes: null, timeZone: null, startsAt: at(1), endsAt: at(2) }
const NIGHTLY: MaintenanceSchedule = {
  cron: '0 2 * * *',
  durationMinutes: 60,
  timeZone: 'Europe/Berlin',
  startsAt: null,
  endsAt: null,
}

/** The paths of the errors. */
const ROWS: [title: string, schedule: MaintenanceSchedule, paths: string[]][] = [
  ['once', ONCE, []],
  ['one period, already running', { ...ONCE, startsAt: at(-1) }, []],
  ['one period of seven days', { ...ONCE, endsAt: at(1 + 168) }, []],
  ['a longer period', { ...ONCE, endsAt: at(1.1 + 168) }, ['ends_at']],
  ['a past period', { ...ONCE, startsAt: at(-2), endsAt: at(-1) }, ['ends_at']],
  ['ending before it starts', { ...ONCE, endsAt: at(1) }, ['ends_at']],
  ['without times', { ...ONCE, startsAt: null, endsAt: null }, ['starts_at', 'ends_at']],
  [
    'one period with fields for cron',
    { ...ONCE, durationMinutes: 5, timeZone: 'UTC' },
    ['duration_minutes', 'time_zone'],
  ],
  ['recurring periods', NIGHTLY, []],
  ['in the last month', { ...NIGHTLY, endsAt: at(-1) }, ['cron']],
  ['on a day that never comes', { ...NIGHTLY, cron: '0 0 30 2 *' }, ['cron']],
  [
    'on days that never come, with modifiers',
    { ...NIGHTLY, cron: '* * 29W,30W,31W * +0#1,1#1,2#1,3#1,4#1,5#1,6#1', timeZone: 'Africa/Casablanca' },
    ['cron'],
  ],
  ['too seldom for its bounds', { ...NIGHTLY, cron: '0 0 1 1 *', endsAt: at(48) }, ['cron']],
  ['cron alone', { ...NIGHTLY, durationMinutes: null, timeZone: null }, ['duration_minutes', 'time_zone']],
  ['a zone that does not exist', { ...NIGHTLY, timeZone: 'Mars/Olympus' }, ['time_zone']],
  ['an invalid cron expression', { ...NIGHTLY, cron: 'at night' }, ['cron']],
  ['bounds in the wrong order', { ...NIGHTLY, startsAt: at(9), endsAt: at(8) }, ['ends_at']],
  ['periods that touch', { ...NIGHTLY, durationMinutes: 1_440 }, ['duration_minutes']],
  ['periods that touch on the day of 23 hours', { ...NIGHTLY, durationMinutes: 1_381 }, ['duration_minutes']],
  ['nearly the whole day', { ...NIGHTLY, durationMinutes: 1_379 }, []],
]

for (const [title, schedule, paths] of ROWS) {
  t.test(title, async t => {
    t.same(
      validateSchedule(schedule, NOW).map(({ path }) => path),
      paths,
    )
  })
}

t.test('two times a day are accepted before a change of clocks', async t => {
  const twice = { ...NIGHTLY, cron: '30 2,14 * * *' }
  for (const day of ['2026-03-01', '2026-08-01']) t.same(validateSchedule(twice, new Date(day)), [], day)
})

t.test('periods that touch when clocks change are refused on any day, also with several periods a day', async t => {
  const twice = { ...NIGHTLY, cron: '30 1,3 * * *', durationMinutes: 100 }
  for (const day of ['2026-02-01', '2026-06-01', '2026-11-21'])
    t.match(validateSchedule(twice, new Date(day)), [{ path: 'duration_minutes' }], day)
  t.same(validateSchedule({ ...twice, timeZone: 'UTC' }, NOW), [])
  const often = { ...NIGHTLY, cron: '*/5 * * * *', durationMinutes: 4 }
  t.same(validateSchedule(often, NOW), [])
})

t.test(
  'periods that touch only when the clocks of Gaza change are found, also with seven days between two changes',
  async t => {
    const nearly = { ...NIGHTLY, timeZone: 'Asia/Gaza', durationMinutes: 1_381 }
    for (const day of ['2026-11-21', '2038-08-01', '2041-08-01', '2045-06-01'])
      t.match(validateSchedule(nearly, new Date(day)), [{ path: 'duration_minutes' }], day)
  },
)

t.test('a schedule that many entries of an import have is compared once', async t => {
  const offsets = t.capture(Intl.DateTimeFormat.prototype, 'formatToParts', Intl.DateTimeFormat.prototype.formatToParts)
  const nightly = { ...NIGHTLY, cron: '17 2 * * *' }
  t.same(validateSchedule(nightly, NOW), [])
  const first = offsets().length
  for (let i = 0; i < 20; i++) t.same(validateSchedule({ ...nightly }, NOW), [])
  const more = offsets().length
  t.ok(more < first, `${first} offsets were read for the first entry, ${more} for 20 more`)
  t.match(validateSchedule({ ...nightly, durationMinutes: 1_440 }, NOW), [{ path: 'duration_minutes' }])
})

t.test('a plan contains the current period from now on and the next one', async t => {
  t.same(planPeriodsFrom(ONCE, NOW), { periods: [{ startsAt: at(1), endsAt: at(2) }], plannedAt: at(1) })
  const running = { ...ONCE, startsAt: at(-1) }
  t.same(planPeriodsFrom(running, NOW), { periods: [{ startsAt: NOW, endsAt: at(2) }], plannedAt: null })
  const hourly = { ...NIGHTLY, cron: '45 * * * *', durationMinutes: 30, timeZone: 'UTC' }
  t.same(planPeriodsFrom(hourly, NOW), {
    periods: [
      { startsAt: NOW, endsAt: at(0.25) },
      { startsAt: at(0.75), endsAt: at(1.25) },
    ],
    plannedAt: at(0.75),
  })
})

t.test('a plan continues at its last period, however late', async t => {
  const hourly = { ...NIGHTLY, cron: '45 * * * *', durationMinutes: 30, timeZone: 'UTC' }
  t.same(planNextPeriod(hourly, at(-99.25)), {
    periods: [{ startsAt: at(-98.25), endsAt: at(-97.75) }],
    plannedAt: at(-98.25),
  })
  t.same(planNextPeriod(ONCE, at(1)), { periods: [], plannedAt: null })
})
