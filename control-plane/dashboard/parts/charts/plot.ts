/** The size of a chart in its own units; the page scales it to the width that it has. */
export const PLOT = { width: 560, height: 190, left: 58, right: 8, top: 10, bottom: 26 }

/** A range of times, in ms. */
export type Span = { fromMs: number; toMs: number }

export type Point = { atMs: number; value: number }

/** The horizontal position of a time. */
export const toX = ({ fromMs, toMs }: Span, atMs: number): number =>
  round(PLOT.left + ((atMs - fromMs) / (toMs - fromMs)) * (PLOT.width - PLOT.left - PLOT.right))

/** The time at a horizontal position, at a whole step within the span. The opposite of `toX`. */
export function toTime({ fromMs, toMs }: Span, x: number, stepMs: number): number {
  const share = Math.min(1, Math.max(0, (x - PLOT.left) / (PLOT.width - PLOT.left - PLOT.right)))
  return Math.min(toMs, fromMs + Math.round((share * (toMs - fromMs)) / stepMs) * stepMs)
}

/** The vertical position of a value between 0 and `max`. */
export const toY = (max: number, value: number): number =>
  round(PLOT.height - PLOT.bottom - (Math.min(value, max) / max) * (PLOT.height - PLOT.top - PLOT.bottom))

/** The smallest of 1, 2 and 5 times a power of ten that is not below `value`. */
export function roundUp(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  const factor = [1, 2, 5, 10].find(step => step * power >= value) ?? 10
  return factor * power
}

/** Splits points where one is missing for longer than `gapMs`. */
export function splitAtGaps(points: readonly Point[], gapMs: number): Point[][] {
  const runs: Point[][] = []
  for (const point of points) {
    const run = runs.at(-1)
    if (run && point.atMs - run.at(-1)!.atMs <= gapMs) run.push(point)
    else runs.push([point])
  }
  return runs
}

/** The path of a line. A point alone becomes a short line, so that it can be seen. */
export function buildLine(span: Span, max: number, points: readonly Point[]): string {
  const [first] = points
  if (!first) return ''
  const place = ({ atMs, value }: Point) => `${toX(span, atMs)},${toY(max, value)}`
  if (points.length === 1) return `M${place(first)}h2`
  return `M${points.map(place).join('L')}`
}

/** The path of the area between two lines with the same times. */
export function buildArea(span: Span, max: number, upper: readonly Point[], lower: readonly Point[]): string {
  if (upper.length === 0) return ''
  const place = ({ atMs, value }: Point) => `${toX(span, atMs)},${toY(max, value)}`
  return `M${upper.map(place).join('L')}L${lower.toReversed().map(place).join('L')}Z`
}

const round = (value: number) => Math.round(value * 10) / 10
