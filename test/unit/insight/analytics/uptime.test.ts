import t from 'tap'
import {
  buildIntervals,
  computeUptime,
  computeUptimePercentage,
  type UptimeChange,
} from '../../../../control-plane/insight/analytics/uptime/uptime.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 10, 21, 10, minute))
const change = (minute: number, status: UptimeChange['status']): UptimeChange => ({ at: at(minute), status })
type Row = [string, UptimeChange['status'], UptimeChange[], string, number | null]

/** Ten minutes; intervals written as status and length in minutes. */
const ROWS: Row[] = [
  ['a monitor without a verdict has unknown time only', null, [], 'unknown 10', null],
  ['a monitor that was up before and saw no change was up all the time', 'up', [], 'up 10', 100],
  [
    'an outage in the middle counts by its length',
    'up',
    [change(4, 'down'), change(6, 'up')],
    'up 4, down 2, up 4',
    80,
  ],
  ['degraded counts as up', 'degraded', [change(5, 'up')], 'degraded 5, up 5', 100],
  ['time before the first verdict is shown apart', null, [change(5, 'up')], 'unknown 5, up 5', 100],
  ['a pause is unknown time', 'up', [change(2, null), change(7, 'down')], 'up 2, unknown 5, down 3', 40],
  [
    'time in which no check counted is unknown, from the last check to the next verdict, and is not uptime',
    'up',
    [change(1, 'down'), change(3, 'up'), change(4, null), change(9, 'up')],
    'up 1, down 2, up 1, unknown 5, up 1',
    60,
  ],
  ['a change at the very beginning leaves no empty interval', 'up', [change(0, 'down')], 'down 10', 0],
  ['equal neighbours are one interval', 'up', [change(3, 'up'), change(5, 'down')], 'up 5, down 5', 50],
  [
    'three changes of one moment leave the last',
    'up',
    [change(5, 'down'), change(5, 'up'), change(5, 'degraded')],
    'up 5, degraded 5',
    100,
  ],
]

for (const [title, before, changes, expected, percentage] of ROWS) {
  t.test(title, async t => {
    const intervals = [...buildIntervals(before, changes, at(0), at(10))]
    const written = intervals.map(one => `${one.status} ${(one.to.getTime() - one.from.getTime()) / 60_000}`)
    t.equal(written.join(', '), expected)
    t.equal(computeUptime(intervals).uptimePercentage, percentage)
  })
}

const PERCENTAGES: [good: number, down: number, percentage: number][] = [
  [999, 1, 99.9],
  [500 * 30 * 86_400 - 600, 600, 99.9999],
  [90 * 86_400 - 3, 3, 99.9999],
  [99_989, 11, 99.989],
  [9_998_999, 1_001, 99.9899],
  [1, 1e9, 0],
]
t.test('100 means no downtime at all: percentages are cut', async t => {
  for (const [up, down, percentage] of PERCENTAGES)
    t.equal(computeUptimePercentage({ up, down, degraded: 0, unknown: 0 }), percentage, `${down} s`)
})
