import type { ComponentView } from '../../../core/types.ts'
import { buildChartPath, CHART_HEIGHT, findCurrentMedian, summarizeChart } from './chart-path.ts'

export const formatMs = (ms: number) => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`

/** A small chart of the response times with its figures as text; nothing without figures. */
export function ResponseChart({ component }: { component: ComponentView }) {
  const values = component.responseTimes?.map(({ medianMs }) => medianMs) ?? []
  const figures = summarizeChart(values)
  if (!figures) return null
  const current = findCurrentMedian(component)
  const range = `${formatMs(figures.min)} – ${formatMs(figures.max)}`
  return (
    <figure class="chart">
      <figcaption>
        Response time {current !== null && <b>{formatMs(current)}</b>} <small>{range}</small>
      </figcaption>
      <svg
        viewBox={`0 0 ${Math.max(values.length - 1, 1)} ${CHART_HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Median response time a day over ${values.length} days, between ${range}`}
      >
        <path d={buildChartPath(values)} />
      </svg>
    </figure>
  )
}
