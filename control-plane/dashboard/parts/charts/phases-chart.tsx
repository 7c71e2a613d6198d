import { formatMs } from '../../core/format.ts'
import { Moment } from '../moment.tsx'
import { Axes, type Mark, Marks } from './axes.tsx'
import { ChartTable, type Column } from './chart-table.tsx'
import { CursorMark } from './cursor.tsx'
import type { LatencyStep } from './latency-chart.tsx'
import { buildArea, PLOT, type Point, roundUp, type Span, splitAtGaps } from './plot.ts'

const PHASES = [
  { key: 'dns_ms', name: 'DNS' },
  { key: 'connect_ms', name: 'Connect' },
  { key: 'tls_ms', name: 'TLS' },
  { key: 'first_byte_ms', name: 'First byte' },
  { key: 'transfer_ms', name: 'Transfer' },
] as const

type Phases = NonNullable<LatencyStep['phases']>
type PhaseStep = { at: string; phases: Phases }

const COLUMNS: readonly Column<PhaseStep>[] = [
  { name: 'Time', show: ({ at }) => <Moment at={at} /> },
  ...PHASES.map(({ key, name }) => ({ name, isNumber: true, show: ({ phases }: PhaseStep) => formatMs(phases[key]) })),
]

/** Where the time goes: the average of each phase, one on top of the other. */
export function PhasesChart({
  steps,
  span,
  stepMs,
  marks,
}: {
  steps: readonly LatencyStep[]
  span: Span
  stepMs: number
  marks: readonly Mark[]
}) {
  const known = steps.flatMap(({ at, phases }) => (phases ? [{ at, phases }] : []))
  if (known.length === 0) return null
  const max = roundUp(Math.max(...known.map(({ phases }) => sumUpTo(phases, PHASES.length)), 1))
  const linesAt = (count: number): Point[][] =>
    splitAtGaps(
      known.map(({ at, phases }) => ({ atMs: Date.parse(at), value: sumUpTo(phases, count) })),
      stepMs * 1.5,
    )
  return (
    <figure>
      <figcaption>
        Phases <span class="soft">average</span>{' '}
        <span class="legend">
          {PHASES.map(({ name }, i) => (
            <span key={name}>
              <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
                <rect class={`phase-${i}`} width="10" height="10" />
              </svg>
              {name}
            </span>
          ))}
        </span>
      </figcaption>
      <svg class="chart" viewBox={`0 0 ${PLOT.width} ${PLOT.height}`} role="img" aria-label={describe(known)}>
        <Marks span={span} marks={marks} />
        <Axes span={span} max={max} format={formatMs} />
        {PHASES.map(({ key }, i) => {
          const lower = linesAt(i)
          return linesAt(i + 1).map((points, run) => (
            <path key={`${key}${run}`} class={`phase-${i}`} d={buildArea(span, max, points, lower[run]!)} />
          ))
        })}
        <CursorMark span={span} />
      </svg>
      <ChartTable rows={known} columns={COLUMNS} getKey={({ at }) => at} />
    </figure>
  )
}

const sumUpTo = (phases: Phases, count: number) => PHASES.slice(0, count).reduce((sum, { key }) => sum + phases[key], 0)

function describe(steps: readonly PhaseStep[]): string {
  const { phases } = steps.at(-1)!
  return `Phases, last: ${PHASES.map(({ key, name }) => `${name} ${formatMs(phases[key])}`).join(', ')}`
}
