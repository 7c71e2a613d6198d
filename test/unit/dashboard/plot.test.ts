import t from 'tap'
import {
  buildArea,
  buildLine,
  PLOT,
  type Point,
  roundUp,
  splitAtGaps,
  toTime,
  toX,
  toY,
} from '../../../control-plane/dashboard/parts/charts/plot.ts'
import { describeMoment } from '../../../control-plane/dashboard/parts/charts/readout.ts'
import { HEALTHY_ANSWERS } from '../../support/dashboard-answers.ts'

const SPAN = { fromMs: 1_000, toMs: 2_000 }
const [LEFT, RIGHT] = [PLOT.left, PLOT.width - PLOT.right]
const [TOP, BOTTOM] = [PLOT.top, PLOT.height - PLOT.bottom]
const pointsAt = (...times: number[]): Point[] => times.map(atMs => ({ atMs, value: 10 }))

t.test('Times and values are placed between the axes', t => {
  t.same(
    [1_000, 1_500, 2_000].map(atMs => toX(SPAN, atMs)),
    [LEFT, (LEFT + RIGHT) / 2, RIGHT],
  )
  t.same(
    [0, 50, 100].map(value => toY(100, value)),
    [BOTTOM, (TOP + BOTTOM) / 2, TOP],
  )
  t.equal(toY(100, 1_000), TOP, 'a value above the maximum is at the top')
  t.end()
})

t.test('The end of an axis is 1, 2 or 5 times a power of ten, and not below the value', t => {
  const rows: [value: number, end: number][] = [
    [0, 1],
    [-3, 1],
    [0.3, 0.5],
    [1, 1],
    [1.01, 2],
    [20, 20],
    [21, 50],
    [51, 100],
    [99.9, 100],
    [812, 1_000],
    [1_000, 1_000],
    [30_001, 50_000],
  ]
  for (const [value, end] of rows) t.equal(roundUp(value), end, String(value))
  for (let value = 0.001; value < 1e9; value *= 1.37) {
    t.ok(roundUp(value) >= value, `${value}`)
    t.ok(roundUp(value) <= value * 2.5 + 1e-9, `${value}`)
  }
  t.end()
})

t.test('Points are split where one is missing', t => {
  const listTimes = (runs: Point[][]) => runs.map(run => run.map(({ atMs }) => atMs))
  t.same(listTimes(splitAtGaps([], 10)), [])
  t.same(listTimes(splitAtGaps(pointsAt(1), 10)), [[1]])
  t.same(listTimes(splitAtGaps(pointsAt(0, 10, 20), 10)), [[0, 10, 20]])
  t.same(listTimes(splitAtGaps(pointsAt(0, 10, 21, 22, 50), 10)), [[0, 10], [21, 22], [50]])
  t.end()
})

t.test('A line connects its points, and a point alone can be seen', t => {
  t.equal(buildLine(SPAN, 10, []), '')
  t.equal(buildLine(SPAN, 10, pointsAt(1_000)), `M${LEFT},${TOP}h2`)
  t.equal(buildLine(SPAN, 10, pointsAt(1_000, 2_000)), `M${LEFT},${TOP}L${RIGHT},${TOP}`)
  t.end()
})

t.test('An area goes along the upper line and back along the lower one', t => {
  t.equal(buildArea(SPAN, 10, [], []), '')
  const lower = pointsAt(1_000, 2_000).map(point => ({ ...point, value: 0 }))
  t.equal(
    buildArea(SPAN, 10, pointsAt(1_000, 2_000), lower),
    `M${LEFT},${TOP}L${RIGHT},${TOP}L${RIGHT},${BOTTOM}L${LEFT},${BOTTOM}Z`,
  )
  t.end()
})

t.test('A position in a chart is a time at a whole step, within the chart', t => {
  const rows: [x: number, atMs: number][] = [
    [LEFT, 1_000],
    [RIGHT, 2_000],
    [LEFT - 50, 1_000],
    [RIGHT + 50, 2_000],
    [(LEFT + RIGHT) / 2, 1_500],
    [toX(SPAN, 1_440), 1_400],
    [toX(SPAN, 1_460), 1_500],
  ]
  for (const [x, atMs] of rows) t.equal(toTime(SPAN, x, 100), atMs, String(x))
  t.equal(toTime({ fromMs: 0, toMs: 250 }, RIGHT, 100), 250, 'the last step can be shorter')
  t.end()
})

t.test('The figures of a time are words: percentiles, phases, outages and changes', t => {
  const steps = HEALTHY_ANSWERS.readAnalyticsLatency!.data
  const atMs = Date.parse(steps[0]!.at)
  const HOUR = 3_600_000
  const marks = [
    { kind: 'outage', fromMs: atMs + 10, toMs: atMs + 20 },
    { kind: 'outage', fromMs: atMs + 30, toMs: atMs + 40 },
    { kind: 'change', fromMs: atMs + 50, toMs: atMs + 50, text: 'Settings changed: timeout_ms by Ann' },
    { kind: 'maintenance', fromMs: atMs + HOUR, toMs: atMs + 2 * HOUR },
  ] as const
  t.equal(
    describeMoment(atMs, steps, HOUR, marks, 'UTC'),
    '21 Nov 2026, 12:05:30: p50 400 ms, p95 700 ms, p99 900 ms, 120 checks; DNS 10 ms, connect 20 ms, TLS 30 ms, first byte 300 ms, transfer 90 ms; outage, Settings changed: timeout_ms by Ann',
  )
  t.equal(describeMoment(atMs - HOUR, steps, HOUR, [], 'UTC'), '21 Nov 2026, 11:05:30: no successful check')
  t.end()
})
