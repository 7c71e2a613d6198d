import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useFrame } from '../../core/frame-context.ts'
import { CursorProvider } from './cursor.tsx'
import { PLOT, type Span, toTime } from './plot.ts'

/**
 * Charts with one cursor, which follows the pointer and has a slider for keys. Dragging over a chart chooses a range.
 * `describe`: what the charts show at a time. `minMs`: shorter ranges are not chosen.
 */
export function ChartGroup({
  span,
  stepMs,
  minMs,
  describe,
  onChoose,
  children,
}: {
  span: Span
  stepMs: number
  minMs: number
  describe(atMs: number): string
  onChoose(chosen: Span): void
  children: ComponentChildren
}) {
  const { isInteractive } = useFrame()
  const [atMs, setAt] = useState<number | null>(null)
  const [startMs, setStart] = useState<number | null>(null)
  const dragged = startMs === null || atMs === null ? null : order(startMs, atMs)
  const locate = (event: PointerEvent): number | null => {
    const chart = (event.target as Element).closest('svg.chart')
    if (!chart) return null
    const { left, width } = chart.getBoundingClientRect()
    return toTime(span, ((event.clientX - left) / width) * PLOT.width, stepMs)
  }
  const onMove = (event: PointerEvent) => {
    const at = locate(event)
    if (at !== null) setAt(at)
  }
  const onDown = (event: PointerEvent) => {
    // fingers scroll the page
    if (event.button !== 0 || event.pointerType === 'touch') return
    const at = locate(event)
    if (at === null) return
    event.preventDefault()
    setStart(at)
    setAt(at)
  }
  const onUp = () => {
    setStart(null)
    if (dragged && dragged.toMs - dragged.fromMs >= minMs) onChoose(dragged)
  }
  return (
    <div
      class="chart-group"
      onPointerMove={onMove}
      onPointerDown={onDown}
      onPointerUp={onUp}
      onPointerLeave={() => setStart(null)}
    >
      <CursorProvider value={{ atMs, dragged }}>{children}</CursorProvider>
      <div class="chart-cursor">
        <input
          type="range"
          disabled={!isInteractive}
          aria-label="Time in the charts"
          aria-valuetext={atMs === null ? 'No time chosen' : describe(atMs)}
          min={span.fromMs}
          max={span.toMs}
          step={stepMs}
          value={atMs ?? span.toMs}
          onInput={event => setAt(Number(event.currentTarget.value))}
        />
        <p class="small soft" aria-hidden="true">
          {atMs === null ? 'Point at a chart, or move with the arrow keys. Drag over a chart to zoom.' : describe(atMs)}
        </p>
      </div>
    </div>
  )
}

const order = (a: number, b: number): Span => ({ fromMs: Math.min(a, b), toMs: Math.max(a, b) })
