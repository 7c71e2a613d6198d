import type { ComponentView } from '../../../core/types.ts'

/** Height of a chart in its own units; its width is one unit per day. */
export const CHART_HEIGHT = 24
const HEADROOM = 2
const MARGIN = 3

type ChartSummary = { min: number; max: number }

/** The response time of today, or of yesterday at the begin of a day, in ms. Null for older figures: they are history. */
export const findCurrentMedian = ({ responseTimes }: Pick<ComponentView, 'responseTimes'>): number | null =>
  responseTimes?.slice(-2).findLast(({ medianMs }) => medianMs !== null)?.medianMs ?? null

/** The figures for the text next to a chart, in ms; null when no day has a figure. */
export function summarizeChart(values: readonly (number | null)[]): ChartSummary | null {
  const known = values.filter(value => value !== null)
  if (known.length === 0) return null
  return { min: Math.min(...known), max: Math.max(...known) }
}

/**
 * One path for the line (stroke) and the area below it (fill): each run of days with figures starts and ends below the
 * picture, `M0 26V9l1-2 1 0V26`. It uses whole, relative units, so 90 days are about 400 bytes.
 */
export function buildChartPath(values: readonly (number | null)[]): string {
  const most = summarizeChart(values)?.max ?? 0
  const floor = CHART_HEIGHT + HEADROOM
  const toHeight = (value: number) => CHART_HEIGHT - Math.round((value / (most || 1)) * (CHART_HEIGHT - HEADROOM))
  let path = ''
  let previous: number | null = null
  for (const [at, value] of values.entries()) {
    if (value === null) {
      if (previous !== null) path += `V${floor}`
      previous = null
      continue
    }
    const y = toHeight(value)
    path += previous === null ? buildStart(at, floor, y) : `l1${y - previous < 0 ? '' : ' '}${y - previous}`
    previous = y
  }
  return previous === null ? path : `${path}h${MARGIN}V${floor}`
}

/** At the left edge the line begins outside the picture, so that no vertical line is visible there. */
const buildStart = (at: number, floor: number, y: number) =>
  at === 0 ? `M-${MARGIN} ${floor}V${y}h${MARGIN}` : `M${at} ${floor}V${y}`
