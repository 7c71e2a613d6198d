import t from 'tap'
import {
  formatAgo,
  formatCount,
  formatDuration,
  formatMs,
  formatPercent,
  formatTime,
} from '../../../control-plane/dashboard/core/format.ts'
import {
  computeSpan,
  getRange,
  parseRange,
  RANGE_NAMES,
  readRange,
  toUtcText,
} from '../../../control-plane/dashboard/core/time-range.ts'

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000]

t.test('A duration has its two largest units', t => {
  const rows: [ms: number, text: string][] = [
    [-5_000, '0 s'],
    [0, '0 s'],
    [499, '0 s'],
    [500, '1 s'],
    [38 * SECOND, '38 s'],
    [59_499, '59 s'],
    [59_500, '1 min'],
    [4 * MINUTE + 10 * SECOND, '4 min 10 s'],
    [HOUR, '1 h'],
    [HOUR + 59 * SECOND, '1 h'],
    [2 * HOUR + 5 * MINUTE + 9 * SECOND, '2 h 5 min'],
    [DAY - 1, '1 d'],
    [3 * DAY + 4 * HOUR + 59 * MINUTE, '3 d 4 h'],
    [400 * DAY, '400 d'],
  ]
  for (const [ms, text] of rows) t.equal(formatDuration(ms), text, String(ms))
  t.end()
})

t.test('An age has its largest unit', t => {
  const rows: [ms: number, text: string][] = [
    [-MINUTE, 'just now'],
    [9_999, 'just now'],
    [10 * SECOND, '10 s ago'],
    [4 * MINUTE + 50 * SECOND, '4 min ago'],
    [2 * HOUR + 5 * MINUTE, '2 h ago'],
    [3 * DAY + 4 * HOUR, '3 d ago'],
  ]
  for (const [ms, text] of rows) t.equal(formatAgo(ms), text, String(ms))
  t.end()
})

t.test('Response times are in ms below a second, and percentages never round up to 100 %', t => {
  const times: [ms: number, text: string][] = [
    [0, '0 ms'],
    [812.4, '812 ms'],
    [1_250, '1.25 s'],
    [9_994, '9.99 s'],
    [10_000, '10 s'],
    [30_060, '30.1 s'],
  ]
  for (const [ms, text] of times) t.equal(formatMs(ms), text, String(ms))
  const percentages: [percentage: number, text: string][] = [
    [100, '100 %'],
    [99.9999, '99.99 %'],
    [99.98, '99.98 %'],
    [99.5, '99.50 %'],
    [0, '0.00 %'],
    [33.333_33, '33.33 %'],
    [0.29, '0.29 %'],
  ]
  for (const [percentage, text] of percentages) t.equal(formatPercent(percentage), text)
  t.same(
    [0, 1, 2, 10_000].map(count => formatCount(count, 'monitor')),
    ['0 monitors', '1 monitor', '2 monitors', '10,000 monitors'],
  )
  t.end()
})

t.test('A time is shown in the given time zone, with 00 and not 24 at midnight', t => {
  const at = '2026-11-21T14:02:07.900Z'
  t.equal(formatTime(at, 'UTC'), '21 Nov 2026, 14:02:07')
  t.equal(formatTime(at, 'UTC', 'time'), '14:02:07')
  t.equal(formatTime(at, 'UTC', 'date'), '21 Nov 2026')
  t.equal(formatTime(at, 'Asia/Tokyo'), '21 Nov 2026, 23:02:07')
  t.equal(formatTime(at, 'Pacific/Kiritimati', 'date'), '22 Nov 2026')
  t.equal(formatTime(Date.parse('2026-11-21T00:00:00Z'), 'UTC', 'time'), '00:00:00')
  t.end()
})

t.test('A range of an address ends at the next full hour, and an unknown one is 24 hours', t => {
  for (const [search, name] of [
    ['', '24h'],
    ['range=7d', '7d'],
    ['range=30d', '30d'],
    ['range=1y', '24h'],
    ['range=constructor', '24h'],
  ] as const)
    t.equal(parseRange(new URLSearchParams(search)), name, search)
  const now = Date.parse('2026-11-21T14:02:07Z')
  for (const name of RANGE_NAMES) {
    const span = computeSpan(name, now)
    t.equal(span.toMs, Date.parse('2026-11-21T15:00:00Z'), name)
    t.equal(span.toMs - span.fromMs, getRange(name).ms, name)
    t.same(computeSpan(name, now + 57 * MINUTE), span, `${name}: the same for the rest of the hour`)
    t.ok(getRange(name).ms / getRange(name).stepMs <= 1_000, `${name}: a chart has a limited number of points`)
  }
  t.end()
})

t.test('A range of times in the address counts before a name, and has limits', t => {
  const now = Date.parse('2026-11-21T14:05:30Z')
  const readSpan = (search: string) => {
    const { fromMs, toMs, ...rest } = readRange(new URLSearchParams(search), now)
    return { ...rest, span: `${toUtcText(fromMs)} ${toUtcText(toMs)}` }
  }
  const fine = { name: null, step: '5m', stepMs: 5 * MINUTE }
  const rows: [string, object][] = [
    ['', { name: '24h', step: '5m', span: '2026-11-20T15:00 2026-11-21T15:00' }],
    [
      'from=2026-11-20T10:02&to=2026-11-20T12:00&range=7d',
      { ...fine, heatStep: '5m', span: '2026-11-20T10:00 2026-11-20T12:00' },
    ],
    ['from=2026-11-20T10:00:00.000Z&to=2026-11-22T10:00', { ...fine, heatStep: '1h' }],
    ['from=2026-11-20T10:00&to=2026-11-20T10:05', { ...fine, span: '2026-11-20T10:00 2026-11-20T10:10' }],
    ['from=2026-01-01T00:00&to=2026-11-20T00:00', { step: '1h', span: '2026-10-21T00:00 2026-11-20T00:00' }],
    ['from=2026-11-20T12:00&to=2026-11-20T10:00&range=7d', { name: '7d' }],
    ['from=yesterday&to=2026-11-20T10:00', { name: '24h' }],
    ['from=2026-13-20T12:00&to=2026-11-20T10:00', { name: '24h' }],
    ['from=2026-11-20T12:00', { name: '24h' }],
  ]
  for (const [search, expected] of rows) t.match(readSpan(search), expected, search)
  t.end()
})
