import { useEffect, useState } from 'preact/hooks'
import { useFrame } from '../../core/frame-context.ts'
import type { OperationArguments, OperationError } from '../../core/operations.ts'
import { useOpenDetails } from '../layout/open-details.ts'
import { Missing } from '../layout/states.tsx'
import type { Mark } from './axes.tsx'
import { computeMax, LatencyChart, type LatencyStep } from './latency-chart.tsx'
import type { Span } from './plot.ts'

type Query = OperationArguments<'readAnalyticsLatency'>['query']
type RegionSteps = { region: string; steps: readonly LatencyStep[] }

/** The response times in each region, on axes of the same height. They are read when the part is opened. */
export function RegionCharts({
  isOpen,
  onToggle,
  ...charts
}: ChartsProps & { isOpen: boolean; onToggle(isOpen: boolean): void }) {
  const details = useOpenDetails(onToggle)
  if (charts.regions.length < 2) return null
  return (
    <details class="regions" open={isOpen} {...details}>
      <summary>Response time in each region</summary>
      {isOpen && <Charts key={JSON.stringify(charts.query)} {...charts} />}
    </details>
  )
}

type ChartsProps = {
  /** of all regions together */
  query: Query
  regions: readonly string[]
  span: Span
  stepMs: number
  marks: readonly Mark[]
}

function Charts({ query, regions, ...chart }: ChartsProps) {
  const { execute } = useFrame()
  const [charts, setCharts] = useState<readonly RegionSteps[] | null>(null)
  const [error, setError] = useState<OperationError | null>(null)
  useEffect(() => {
    let isCurrent = true
    const readAll = async () => {
      const all: RegionSteps[] = []
      for (const region of regions) {
        const outcome = await execute('readAnalyticsLatency', {
          query: { ...query, region: region as Query['region'] },
        })
        if (!isCurrent) return
        if ('error' in outcome) return setError(outcome.error)
        all.push({ region, steps: outcome.data.data })
      }
      setCharts(all)
    }
    void readAll()
    return () => {
      isCurrent = false
    }
  }, [])
  if (error) return <Missing what="The response times" error={error} />
  if (!charts) return <div class="skeleton" role="status" aria-label="Loading" />
  const max = computeMax(charts.flatMap(({ steps }) => steps))
  return (
    <div class="columns small-charts">
      {charts.map(({ region, steps }) => (
        <LatencyChart key={region} title={`Response time in ${region}`} steps={steps} max={max} {...chart} />
      ))}
    </div>
  )
}
