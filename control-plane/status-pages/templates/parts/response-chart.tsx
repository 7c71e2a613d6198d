import type { ComponentView } from '../../types.ts'
import { CHART_HEIGHT, chartFigures, chartPath } from './chart-path.ts'

export const msText = (ms: number) => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`

/** The response times of the last days as a small picture with its figures in words; nothing where none are given. */
export function ResponseChart({ component: { responseTimes } }: { component: ComponentView }) {
  const values = responseTimes?.map(({ medianMs }) => medianMs) ?? []
  const figures = chartFigures(values)
  if (!figures) return null
  const range = `${msText(figures.least)} – ${msText(figures.most)}`
  return (
    <figure class="chart">
      <figcaption>
        Response time <b>{msText(figures.latest)}</b> <small>{range}</small>
      </figcaption>
      <svg
        viewBox={`0 0 ${Math.max(values.length - 1, 1)} ${CHART_HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Median response time a day over ${values.length} days, between ${range}`}
      >
        <path d={chartPath(values)} />
      </svg>
    </figure>
  )
}
