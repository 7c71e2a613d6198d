import t from 'tap'
import type { MonitorStatusTime } from '../../../control-plane/insight/analytics/uptime/status-time.ts'
import { BAR_DAYS, buildBar, computeBarUptime, listBarDays } from '../../../control-plane/pages/public/view/days.ts'
import type { PageIncident } from '../../../control-plane/pages/public/view/page-data.ts'

const NOW = new Date('2026-11-21T06:00:00Z')
const DAY = 86_400

/** The time of a monitor in one status on one day. */
const time = (
  date: string,
  status: MonitorStatusTime['status'],
  seconds: number,
  isMaintenance = false,
): MonitorStatusTime => ({
  monitorId: 'm',
  status,
  isMaintenance,
  from: new Date(date),
  to: new Date(Date.parse(date) + seconds * 1_000),
  seconds,
})
const buildDays = (times: MonitorStatusTime[], incidents: PageIncident[], now: Date) =>
  buildBar(times, incidents, listBarDays(now))
const NONE = { upSeconds: 0, degradedSeconds: 0, downSeconds: 0, maintenanceSeconds: 0, unknownSeconds: 0 }

t.test('A bar has 90 UTC days, and the last one is the elapsed part of today', async t => {
  const datesUntil = (now: Date) => listBarDays(now).map(({ date }) => date)
  const dates = datesUntil(NOW)
  t.equal(dates.length, BAR_DAYS)
  t.equal(dates[0], '2026-08-24')
  t.equal(dates.at(-1), '2026-11-21')
  t.equal(datesUntil(new Date('2026-11-21T23:59:59.999Z')).at(-1), '2026-11-21')
  t.equal(datesUntil(new Date('2026-11-22T00:00:00Z')).at(-1), '2026-11-22')
})

t.test('Each day has its worst status, and its seconds add up', async t => {
  const rows: [string, MonitorStatusTime[], object][] = [
    ['nothing is known', [], { status: 'unknown', unknownSeconds: DAY }],
    ['up all day', [time('2026-11-20', 'up', DAY)], { status: 'operational', upSeconds: DAY }],
    [
      'made at noon',
      [time('2026-11-20', 'up', DAY / 2)],
      { status: 'operational', upSeconds: DAY / 2, unknownSeconds: DAY / 2 },
    ],
    [
      'degraded for a minute',
      [time('2026-11-20', 'up', DAY - 60), time('2026-11-20', 'degraded', 60)],
      { status: 'degraded', upSeconds: DAY - 60, degradedSeconds: 60 },
    ],
    [
      'down for a second',
      [time('2026-11-20', 'up', DAY - 61), time('2026-11-20', 'degraded', 60), time('2026-11-20', 'down', 1)],
      { status: 'outage', upSeconds: DAY - 61, degradedSeconds: 60, downSeconds: 1 },
    ],
    ['paused all day', [time('2026-11-20', null, DAY)], { status: 'unknown', unknownSeconds: DAY }],
    [
      'down, but only in maintenance',
      [time('2026-11-20', 'up', DAY - 3_600), time('2026-11-20', 'down', 3_600, true)],
      { status: 'operational', upSeconds: DAY - 3_600, maintenanceSeconds: 3_600 },
    ],
    [
      'in maintenance all day',
      [time('2026-11-20', 'down', DAY, true)],
      { status: 'maintenance', maintenanceSeconds: DAY },
    ],
  ]
  for (const [what, times, expected] of rows) {
    const day = buildDays(times, [], NOW).at(-2)!
    t.same(day, { date: '2026-11-20', incidents: [], ...NONE, ...expected }, what)
  }
  t.match(buildDays([time('2026-11-21', 'up', 6 * 3_600)], [], NOW).at(-1), { upSeconds: 6 * 3_600, unknownSeconds: 0 })
})

t.test('Spans of several days are split at midnight and cut at the start of the bar', async t => {
  const long = {
    ...time('2026-11-18', 'up', 0),
    from: new Date('2026-11-18T12:00:00Z'),
    to: new Date('2026-11-20T06:00:00Z'),
  }
  const parts = buildDays([long], [], NOW).slice(-5)
  t.same(
    parts.map(({ upSeconds }) => upSeconds / 3_600),
    [0, 12, 24, 6, 0],
  )
  const old = { ...time('2026-01-01', 'up', 0), to: new Date('2026-08-24T01:00:00Z') }
  const [first, second] = buildDays([old], [], NOW)
  t.same([first!.upSeconds, second!.upSeconds], [3_600, 0])
  const older = { ...old, to: new Date('2026-08-23T01:00:00Z') }
  t.ok(buildDays([older], [], NOW).every(({ upSeconds }) => upSeconds === 0))
  const summed = { ...time('2026-11-20', 'down', 5), to: new Date('2026-11-20T23:00:00Z') }
  t.equal(buildDays([summed], [], NOW).at(-2)!.downSeconds, 5, 'the sum of many short ones')
})

t.test('A day lists the incidents that overlap it', async t => {
  const incident = (id: string, from: string, to: string | null): PageIncident => ({
    id,
    title: `incident ${id}`,
    status: 'resolved',
    severity: 'major',
    source: 'automatic',
    outage: null,
    startedAt: new Date(from),
    resolvedAt: to === null ? null : new Date(to),
    monitorIds: ['m'],
    updates: [],
    postmortem: null,
  })
  const days = buildDays(
    [],
    [
      incident('over midnight', '2026-11-18T23:00:00Z', '2026-11-19T01:00:00Z'),
      incident('to the last moment', '2026-11-19T10:00:00Z', '2026-11-19T23:59:59.999Z'),
      incident('still open', '2026-11-20T10:00:00Z', null),
      incident('before the bar', '2026-08-01T10:00:00Z', '2026-08-01T11:00:00Z'),
    ],
    NOW,
  )
  const listed = days.flatMap(({ date, incidents }) => incidents.map(({ id }) => `${date} ${id}`))
  t.same(listed, [
    '2026-11-18 over midnight',
    '2026-11-19 over midnight',
    '2026-11-19 to the last moment',
    '2026-11-20 still open',
    '2026-11-21 still open',
  ])
})

t.test('Uptime is up and degraded time divided by known time', async t => {
  const rows: [string, MonitorStatusTime[], number | null][] = [
    ['nothing watched', [], null],
    ['only maintenance', [time('2026-11-20', 'down', DAY, true)], null],
    ['up', [time('2026-11-20', 'up', 10)], 100],
    ['down a tenth', [time('2026-11-19', 'up', 900), time('2026-11-20', 'down', 100)], 90],
    ['degraded counts as up', [time('2026-11-19', 'degraded', 900), time('2026-11-20', 'down', 100)], 90],
    ['paused time does not count', [time('2026-11-19', 'up', 900), time('2026-11-20', null, DAY)], 100],
    ['four decimals', [time('2026-11-05', 'up', 999_999), time('2026-11-20', 'down', 1)], 99.9999],
  ]
  for (const [what, times, expected] of rows) t.equal(computeBarUptime(buildDays(times, [], NOW)), expected, what)
})
