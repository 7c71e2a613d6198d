import { formatCount, formatMs, formatNumber } from '../../core/format.ts'
import type { OperationResponse } from '../../core/operations.ts'
import { Moment } from '../moment.tsx'
import { Axes, type Mark, Marks } from './axes.tsx'
import { ChartTable, type Column } from './chart-table.tsx'
import { CursorMark } from './cursor.tsx'
import { buildArea, buildLine, PLOT, roundUp, type Span, splitAtGaps } from './plot.ts'

export type LatencyStep = OperationResponse<'readAnalyticsLatency'>['data'][number]

type Percentile = 'p50' | 'p95' | 'p99'

const COLUMNS: readonly Column<LatencyStep>[] = [
  { name: 'Time', show: ({ at }) => <Moment at={at} /> },
  { name: 'Checks', isNumber: true, show: ({ count }) => formatNumber(count) },
  { name: 'p50', isNumber: true, show: ({ p50 }) => formatMs(p50) },
  { name: 'p95', isNumber: true, show: ({ p95 }) => formatMs(p95) },
  { name: 'p99', isNumber: true, show: ({ p99 }) => formatMs(p99) },
]

/** The top of the axis of charts of response times. */
export const computeMax = (steps: readonly LatencyStep[]): number =>
  roundUp(Math.max(...steps.map(({ p99 }) => p99), 1))

/** The response times of successful checks: a band from p50 to p95, and p99 above it. Gaps stay gaps. */
export function LatencyChart({
  steps,
  span,
  stepMs,
  marks,
  title = 'Response time',
  max = computeMax(steps),
}: {
  steps: readonly LatencyStep[]
  span: Span
  stepMs: number
  marks: readonly Mark[]
  title?: string
  /** the top of the axis, in ms, when other charts have the same */
  max?: number
}) {
  const toPoints = (percentile: Percentile) =>
    splitAtGaps(
      steps.map(step => ({ atMs: Date.parse(step.at), value: step[percentile] })),
      stepMs * 1.5,
    )
  const [low, high, top] = [toPoints('p50'), toPoints('p95'), toPoints('p99')]
  return (
    <figure>
      <figcaption>
        {title} <span class="soft">p50 to p95, p99 dashed</span>
      </figcaption>
      <svg class="chart" viewBox={`0 0 ${PLOT.width} ${PLOT.height}`} role="img" aria-label={describe(title, steps)}>
        <Marks span={span} marks={marks} />
        <Axes span={span} max={max} format={formatMs} />
        {high.map((points, i) => (
          <path key={i} class="band" d={buildArea(span, max, points, low[i]!)} />
        ))}
        {top.map((points, i) => (
          <path key={i} class="line soft" d={buildLine(span, max, points)} />
        ))}
        {low.map((points, i) => (
          <path key={i} class="line" d={buildLine(span, max, points)} />
        ))}
        <CursorMark span={span} />
      </svg>
      <ChartTable rows={steps} columns={COLUMNS} getKey={({ at }) => at} />
    </figure>
  )
}

function describe(title: string, steps: readonly LatencyStep[]): string {
  const last = steps.at(-1)
  if (!last) return `${title}: no successful checks in this time`
  const checks = steps.reduce((sum, { count }) => sum + count, 0)
  return `${title} of ${formatCount(checks, 'check')}; last p50 ${formatMs(last.p50)}, p95 ${formatMs(last.p95)}`
}
