import { formatTime } from '../../core/format.ts'
import { useFrame } from '../../core/frame-context.ts'
import { PLOT, type Span, toX, toY } from './plot.ts'

const DAY_MS = 86_400_000

/** Horizontal lines with their values, and times below. */
export function Axes({ span, max, format }: { span: Span; max: number; format(value: number): string }) {
  const { timeZone } = useFrame()
  const { fromMs, toMs } = span
  const part = toMs - fromMs > 2 * DAY_MS ? 'date' : 'time'
  const label = (atMs: number) => {
    const text = formatTime(atMs, timeZone, part)
    return part === 'date' ? text.replace(/ \d+$/, '') : text.slice(0, 5)
  }
  return (
    <g>
      {[0, max / 2, max].map(value => (
        <g key={value}>
          <line class="grid" x1={PLOT.left} x2={PLOT.width - PLOT.right} y1={toY(max, value)} y2={toY(max, value)} />
          <text x={PLOT.left - 6} y={toY(max, value) + 4} text-anchor="end">
            {format(value)}
          </text>
        </g>
      ))}
      {[fromMs, (fromMs + toMs) / 2, toMs].map((atMs, i) => (
        <text
          key={atMs}
          x={toX(span, atMs)}
          y={PLOT.height - 6}
          text-anchor={i === 0 ? 'start' : i === 1 ? 'middle' : 'end'}
        >
          {label(atMs)}
        </text>
      ))}
    </g>
  )
}

/** A time that the charts mark, such as an outage. `text`: what was changed, and by whom: `Settings changed: url by Ann`. */
export type Mark = Span & { kind: 'outage' | 'maintenance' | 'change'; text?: string }

/** Outages, maintenance and changes of the settings and alert rules behind the lines. */
export const Marks = ({ span, marks }: { span: Span; marks: readonly Mark[] }) => (
  <g>
    {marks
      .filter(({ fromMs, toMs }) => toMs > span.fromMs && fromMs < span.toMs)
      .map(({ fromMs, toMs, kind, text }, i) => {
        const x = toX(span, Math.max(fromMs, span.fromMs))
        if (kind === 'change') {
          return (
            <line key={i} class="change" x1={x} x2={x} y1={PLOT.top} y2={PLOT.height - PLOT.bottom}>
              <title>{text}</title>
            </line>
          )
        }
        const end = toX(span, Math.min(toMs, span.toMs))
        return (
          <rect
            key={i}
            class={kind}
            x={x}
            y={PLOT.top}
            width={Math.max(1.5, end - x)}
            height={PLOT.height - PLOT.top - PLOT.bottom}
          />
        )
      })}
  </g>
)
