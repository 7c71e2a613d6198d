import { formatPercent } from '../../core/format.ts'
import type { OperationResponse } from '../../core/operations.ts'

/** The last 24 hours of a monitor in half hours. */
export type DayHistory = Pick<
  OperationResponse<'listAnalyticsStrips'>['data'][number],
  'cells' | 'p95_ms' | 'uptime_24h'
>

const [STEP, WIDTH, HEIGHT] = [2, 1.5, 16]

/** Where a bar of each status begins and how high it is: all, the lower half, or broken in the middle. */
const SHAPES: Record<string, readonly (readonly [y: number, height: number])[]> = {
  up: [[0, 16]],
  degraded: [[8, 8]],
  down: [
    [0, 6],
    [10, 6],
  ],
  maintenance: [[14, 2]],
  none: [[15, 1]],
}

/** The day as 48 bars, in the shapes of the region strip. One path a status, so that many rows cost little. */
export function DayStrip({ strip }: { strip: DayHistory }) {
  const { status } = strip.cells
  const uptime = strip.uptime_24h === null ? 'nothing known' : `up ${formatPercent(strip.uptime_24h)}`
  return (
    <svg
      class="strip of-day"
      width={status.length * STEP}
      height={HEIGHT}
      viewBox={`0 0 ${status.length * STEP} ${HEIGHT}`}
      role="img"
      aria-label={`Last 24 hours: ${uptime}`}
    >
      {Object.entries(SHAPES).map(([name, bars]) => {
        const path = status
          .flatMap((one, i) =>
            (one ?? 'none') === name ? bars.map(([y, height]) => drawBar(i * STEP, y, height)) : [],
          )
          .join('')
        return path && <path key={name} class={name === 'down' ? 'failing' : name} d={path} />
      })}
    </svg>
  )
}

const drawBar = (x: number, y: number, height: number) => `M${x} ${y}h${WIDTH}v${height}h-${WIDTH}z`
