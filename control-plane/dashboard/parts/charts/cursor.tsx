import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { PLOT, type Span, toX } from './plot.ts'

/** What a person points at in all charts of a group: a time, and a range while it is dragged. */
type ChartCursor = { atMs: number | null; dragged: Span | null }

const Context = createContext<ChartCursor>({ atMs: null, dragged: null })

export const CursorProvider = Context.Provider

/** The time and the range at which a person points, in a chart of this span. */
export function CursorMark({ span }: { span: Span }) {
  const { atMs, dragged } = useContext(Context)
  const height = PLOT.height - PLOT.top - PLOT.bottom
  return (
    <g>
      {dragged && (
        <rect
          class="dragged"
          x={toX(span, dragged.fromMs)}
          y={PLOT.top}
          width={Math.max(0, toX(span, dragged.toMs) - toX(span, dragged.fromMs))}
          height={height}
        />
      )}
      {atMs !== null && (
        <line class="cursor" x1={toX(span, atMs)} x2={toX(span, atMs)} y1={PLOT.top} y2={PLOT.top + height} />
      )}
    </g>
  )
}
