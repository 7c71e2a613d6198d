import t from 'tap'
import { markMaintenance } from '../../../../control-plane/insight/analytics/uptime/maintenance-intervals.ts'
import {
  buildIntervals,
  computeUptime,
  type UptimeChange,
} from '../../../../control-plane/insight/analytics/uptime/uptime.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 10, 21, 10, minute))
const period = (from: number, to: number) => ({ startsAt: at(from), endsAt: at(to) })
const OUTAGE: UptimeChange[] = [
  { at: at(4), status: 'down' },
  { at: at(6), status: 'up' },
]

/** Ten minutes with an outage from 4 to 6; maintenance in brackets. */
const ROWS: [title: string, periods: [number, number][], intervals: string, minutes: number, uptime: number | null][] =
  [
    ['no maintenance', [], 'up 4, down 2, up 4', 0, 80],
    ['maintenance around the outage', [[3, 8]], 'up 3, (up 1), (down 2), (up 2), up 2', 5, 100],
    ['maintenance that begins in the outage', [[5, 7]], 'up 4, down 1, (down 1), (up 1), up 3', 2, 87.5],
    ['maintenance from before to after', [[-5, 15]], '(up 4), (down 2), (up 4)', 10, null],
    ['maintenance elsewhere', [[-5, 0]], 'up 4, down 2, up 4', 0, 80],
    [
      'two windows that overlap count once',
      [
        [3, 5],
        [4, 8],
        [4, 5],
      ],
      'up 3, (up 1), (down 2), (up 2), up 2',
      5,
      100,
    ],
    [
      'two windows that touch are one',
      [
        [3, 5],
        [5, 8],
      ],
      'up 3, (up 1), (down 2), (up 2), up 2',
      5,
      100,
    ],
    [
      'two windows apart',
      [
        [1, 2],
        [8, 9],
      ],
      'up 1, (up 1), up 2, down 2, up 2, (up 1), up 1',
      2,
      75,
    ],
  ]

for (const [title, periods, expected, minutes, percentage] of ROWS) {
  t.test(title, async t => {
    const plain = buildIntervals('up', OUTAGE, at(0), at(10))
    const marked = markMaintenance(
      plain,
      periods.map(([from, to]) => period(from, to)),
    )
    const intervals = [...marked]
    const written = intervals.map(({ status, from, to, isMaintenance }) => {
      const text = `${status} ${(to.getTime() - from.getTime()) / 60_000}`
      return isMaintenance ? `(${text})` : text
    })
    t.equal(written.join(', '), expected)
    const { maintenanceSeconds, uptimePercentage } = computeUptime(intervals)
    t.equal(maintenanceSeconds, minutes * 60)
    t.equal(uptimePercentage, percentage)
  })
}
