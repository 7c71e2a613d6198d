import { formatCount, formatMs, formatNumber } from '../../core/format.ts'
import type { OperationResponse } from '../../core/operations.ts'
import { Moment } from '../moment.tsx'
import { Axes, type Mark, Marks } from './axes.tsx'
import { ChartTable, type Column } from './chart-table.tsx'
import { CursorMark } from './cursor.tsx'
import { PLOT, type Span, toX } from './plot.ts'

type Heatmap = OperationResponse<'readAnalyticsHeatmap'>
type Step = Heatmap['data'][number]

/**
 * How many checks took how long: the stronger the tone of a cell, the more. Failed checks are a row of their own at the top. Outages
 * and maintenance are behind the cells, so that they hardly change the tones.
 */
export function HeatMap({ heatmap, span, marks }: { heatmap: Heatmap; span: Span; marks: readonly Mark[] }) {
  const { data: steps, meta } = heatmap
  const used = countUsedBounds(steps)
  const bounds = meta.bounds_ms
  const rows = used + 1
  const most = Math.max(1, ...steps.flatMap(({ counts }) => counts))
  const height = (PLOT.height - PLOT.top - PLOT.bottom) / rows
  const stepMs = meta.step_seconds * 1_000
  const y = (row: number) => PLOT.height - PLOT.bottom - (row + 1) * height
  const columns: Column<Step>[] = [
    { name: 'Time', show: ({ at }) => <Moment at={at} /> },
    ...Array.from({ length: used }, (_, i) => ({
      name: i < bounds.length ? `< ${formatMs(bounds[i]!)}` : `≥ ${formatMs(bounds.at(-1)!)}`,
      isNumber: true,
      show: ({ counts }: Step) => counts[i] ?? 0,
    })),
    { name: 'Failed', isNumber: true, show: ({ failed }) => failed },
  ]
  return (
    <figure>
      <figcaption>
        Distribution <span class="soft">a stronger tone is more checks, the top row is failed checks</span>
      </figcaption>
      <svg class="chart" viewBox={`0 0 ${PLOT.width} ${PLOT.height}`} role="img" aria-label={describe(steps)}>
        <Axes span={span} max={rows} format={row => formatRow(row, used, bounds)} />
        <Marks span={span} marks={marks.filter(({ kind }) => kind !== 'change')} />
        {steps.map(({ at, counts, failed }) => {
          const atMs = Date.parse(at)
          const x = Math.max(PLOT.left, toX(span, atMs))
          const width = Math.max(1, toX(span, atMs + stepMs) - x - 0.5)
          const cells = counts.slice(0, used).map((count, row) => ({ row, count, kind: 'heat' }))
          return [...cells, { row: used, count: failed, kind: 'failed' }]
            .filter(({ count }) => count > 0)
            .map(({ row, count, kind }) => (
              <rect
                key={`${at}${row}`}
                class={kind}
                x={x}
                y={y(row) + 0.5}
                width={width}
                height={height - 1}
                opacity={kind === 'failed' ? 1 : 0.15 + (0.85 * count) / most}
              />
            ))
        })}
        <Marks span={span} marks={marks.filter(({ kind }) => kind === 'change')} />
        <CursorMark span={span} />
      </svg>
      <ChartTable rows={steps} columns={columns} getKey={({ at }) => at} />
    </figure>
  )
}

/** The number of rows up to the highest one with a check. */
const countUsedBounds = (steps: readonly Step[]) =>
  Math.max(1, ...steps.map(({ counts }) => counts.findLastIndex(count => count > 0) + 1))

/** The lower end of a row; the row above all others has the failed checks. */
function formatRow(row: number, used: number, bounds: readonly number[]): string {
  if (row > used) return 'failed'
  return formatMs(row < 1 ? 0 : (bounds[Math.round(row) - 1] ?? 0))
}

function describe(steps: readonly Step[]): string {
  const failed = steps.reduce((sum, step) => sum + step.failed, 0)
  const ok = steps.reduce((sum, { counts }) => sum + counts.reduce((total, count) => total + count, 0), 0)
  return `Distribution of response times: ${formatCount(ok, 'successful check')}, ${formatNumber(failed)} failed`
}
