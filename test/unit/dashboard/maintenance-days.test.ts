import t from 'tap'
import {
  describeDays,
  limitDays,
  moveDay,
  proposeTimes,
} from '../../../control-plane/dashboard/screens/suppression/maintenance/calendar/day-range.ts'
import {
  readProposedTimes,
  toNewWindowAddress,
} from '../../../control-plane/dashboard/screens/suppression/maintenance/proposed-times.ts'
import { VIEWER } from '../../support/dashboard-fixtures.ts'
import { FULL } from '../../support/dashboard-scenes.ts'
import { renderScreen } from '../../support/dashboard-screens.tsx'

const NOW = '2026-03-10T10:20:00Z'

const PROPOSALS: [what: string, zone: string, first: string, last: string, begin: string, end: string, now?: string][] =
  [
    ['several days', 'UTC', '2026-03-11', '2026-03-13', '2026-03-11T00:00:00Z', '2026-03-14T00:00:00Z'],
    ['over the end of a year', 'UTC', '2026-12-31', '2027-01-01', '2026-12-31T00:00:00Z', '2027-01-02T00:00:00Z'],
    ['east of UTC', 'Asia/Kolkata', '2026-03-11', '2026-03-12', '2026-03-10T18:30:00Z', '2026-03-12T18:30:00Z'],
    ['west of UTC', 'America/New_York', '2026-07-01', '2026-07-02', '2026-07-01T04:00:00Z', '2026-07-03T04:00:00Z'],
    ['summer time begins', 'Europe/Berlin', '2026-03-28', '2026-03-29', '2026-03-27T23:00:00Z', '2026-03-29T22:00:00Z'],
    ['summer time ends', 'Europe/Berlin', '2026-10-24', '2026-10-25', '2026-10-23T22:00:00Z', '2026-10-25T23:00:00Z'],
    [
      'a week with 169 hours',
      'Europe/Berlin',
      '2026-10-19',
      '2026-10-25',
      '2026-10-18T22:00:00Z',
      '2026-10-25T22:00:00Z',
    ],
    [
      'a midnight is skipped',
      'Africa/Cairo',
      '2026-04-24',
      '2026-04-25',
      '2026-04-23T22:00:00Z',
      '2026-04-25T21:00:00Z',
    ],
    ['one day', 'Europe/Berlin', '2026-03-11', '2026-03-11', '2026-03-11T01:00:00Z', '2026-03-11T03:00:00Z'],
    [
      'one day without 02:00',
      'Europe/Berlin',
      '2026-03-29',
      '2026-03-29',
      '2026-03-29T01:00:00Z',
      '2026-03-29T03:00:00Z',
    ],
    [
      'one day with two 02:00',
      'Europe/Berlin',
      '2026-10-25',
      '2026-10-25',
      '2026-10-25T00:00:00Z',
      '2026-10-25T02:00:00Z',
    ],
    ['today', 'UTC', '2026-03-10', '2026-03-10', '2026-03-10T11:00:00Z', '2026-03-10T13:00:00Z'],
    ['today and tomorrow', 'UTC', '2026-03-10', '2026-03-11', '2026-03-10T11:00:00Z', '2026-03-12T00:00:00Z'],
    ...([
      [
        'late today',
        'UTC',
        '2026-03-10',
        '2026-03-11',
        '2026-03-11T00:00:00Z',
        '2026-03-12T00:00:00Z',
        '2026-03-10T23:40:00Z',
      ],
    ] as [string, string, string, string, string, string, string][]),
  ]
t.test(
  'Days of the calendar propose a begin and an end that the API accepts, in the time zone of the person',
  async t => {
    for (const [what, zone, first, last, begin, end, now = NOW] of PROPOSALS) {
      const times = proposeTimes({ first, last }, Date.parse(now), zone)
      const expected = { startsAt: new Date(begin), endsAt: new Date(end) }
      t.same(times, expected, what)
      const { search } = new URL(toNewWindowAddress(times), 'http://localhost')
      t.same(readProposedTimes(new URLSearchParams(search), new Date(now)), { times: expected, problem: null }, what)
    }
  },
)

t.test('At most seven days are chosen, in both directions, and none that is over', async t => {
  const limit = (anchor: string, reached: string, today = '2026-03-10') => limitDays({ anchor, reached }, today)
  t.match(limit('2026-03-12', '2026-03-14'), { first: '2026-03-12', last: '2026-03-14', isLimited: false })
  t.match(limit('2026-03-14', '2026-03-12'), { first: '2026-03-12', last: '2026-03-14', head: '2026-03-12' })
  t.match(limit('2026-03-12', '2026-03-18'), { last: '2026-03-18', isLimited: false })
  t.match(limit('2026-03-12', '2026-03-30'), { first: '2026-03-12', last: '2026-03-18', isLimited: true })
  t.match(limit('2026-03-30', '2026-03-12'), { first: '2026-03-24', last: '2026-03-30', head: '2026-03-24' })
  t.match(limit('2026-03-12', '2026-03-02'), { first: '2026-03-10', last: '2026-03-12', isLimited: false })
  t.match(limit('2026-03-09', '2026-03-09'), { first: '2026-03-10', last: '2026-03-10' }, 'midnight has passed')
  t.equal(describeDays({ first: '2026-03-12', last: '2026-03-12' }, false), 'Thu 12 Mar.')
  t.equal(
    describeDays({ first: '2026-03-12', last: '2026-03-18' }, true),
    'Thu 12 Mar to Wed 18 Mar, 7 days. A window lasts at most 7 days.',
  )
})

const MOVES: [from: string, key: string, to: string | null][] = [
  ['2026-03-12', 'ArrowLeft', '2026-03-11'],
  ['2026-03-12', 'ArrowRight', '2026-03-13'],
  ['2026-03-12', 'ArrowDown', '2026-03-19'],
  ['2026-03-19', 'ArrowUp', '2026-03-12'],
  ['2026-03-19', 'Home', '2026-03-16'],
  ['2026-03-19', 'End', '2026-03-22'],
  ['2026-03-12', 'Home', '2026-03-10'],
  ['2026-03-10', 'ArrowLeft', '2026-03-10'],
  ['2026-03-12', 'ArrowUp', '2026-03-12'],
  ['2026-03-22', 'ArrowRight', '2026-03-22'],
  ['2026-03-12', 'a', null],
]
t.test('Keys move between the days of a calendar, from today to the last one that it shows', async t => {
  const days = Array.from({ length: 13 }, (_, i) => `2026-03-${10 + i}`)
  for (const [from, key, to] of MOVES) t.equal(moveDay(from, key, days), to, `${from} ${key}`)
})

const ADDRESSES: [search: string, problem: string | null][] = [
  ['', null],
  ['other=1', null],
  ['starts_at=2026-03-11T00:00:00Z', 'ends_at must be a date and time such as 2027-03-01T09:00:00Z'],
  ['starts_at=&ends_at=', 'starts_at must be a date and time such as 2027-03-01T09:00:00Z'],
  ['starts_at=2026-02-30T00:00:00Z&ends_at=2026-03-11T00:00:00Z', 'starts_at must be a date and time'],
  ['starts_at=2026-03-11T00:00&ends_at=2026-03-11T02:00', 'starts_at must be a date and time'],
  ['starts_at=2026-03-12T00:00:00Z&ends_at=2026-03-11T00:00:00Z', 'ends_at must be after starts_at'],
  ['starts_at=2026-03-11T00:00:00Z&ends_at=2026-03-18T00:00:01Z', 'ends_at must be at most 7 days after starts_at'],
  ['starts_at=2026-03-09T00:00:00Z&ends_at=2026-03-10T00:00:00Z', 'ends_at must be in the future'],
]
t.test('A begin and end in an address that the API refuses are not used, and the reason is named', async t => {
  for (const [search, problem] of ADDRESSES) {
    const read = readProposedTimes(new URLSearchParams(search), new Date(NOW))
    t.equal(read.times, null, search)
    if (problem === null) t.equal(read.problem, null, search)
    else t.ok(read.problem?.startsWith(problem), `${search}: ${read.problem}`)
  }
})

t.test('Only people who may write choose days of the calendar', async t => {
  const html = (me = FULL.me) => renderScreen('/maintenance', { ...FULL, me }).html
  t.match(html(), /role="grid"/)
  t.match(html(), /To plan maintenance, choose a day/)
  t.notMatch(html(VIEWER), /role="grid"|day-label" tabindex|To plan maintenance/)
})
