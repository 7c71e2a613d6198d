import { useFrame } from '../../core/frame-context.ts'
import type { OperationResponse } from '../../core/operations.ts'
import type { Result } from '../../core/screen.ts'
import { computeSpan, getRange, parseRange, RANGE_NAMES } from '../../core/time-range.ts'
import type { Mark } from '../../parts/charts/axes.tsx'
import { HeatMap } from '../../parts/charts/heat-map.tsx'
import { LatencyChart } from '../../parts/charts/latency-chart.tsx'
import { PhasesChart } from '../../parts/charts/phases-chart.tsx'
import { Section } from '../../parts/section.tsx'
import { Loaded } from '../../parts/states.tsx'

type Results = {
  latency: Result<OperationResponse<'readAnalyticsLatency'>>
  heatmap: Result<OperationResponse<'readAnalyticsHeatmap'>>
  uptime: Result<OperationResponse<'readAnalyticsUptime'>>
}

/** Response times in the range that the address names; all charts share it. */
export function ChartsSection({ id, search, results }: { id: string; search: URLSearchParams; results: Results }) {
  const { nowMs } = useFrame()
  const name = parseRange(search)
  const span = computeSpan(name, nowMs)
  const { stepMs } = getRange(name)
  const marks = toMarks(results.uptime.data)
  return (
    <Section id="latency" title="Response times" aside={<RangeLinks id={id} current={name} />}>
      <Loaded result={results.latency} what="The response times">
        {({ data }) =>
          data.length === 0 ? (
            <p class="soft">No successful check in this time.</p>
          ) : (
            <div class="columns">
              <LatencyChart steps={data} span={span} stepMs={stepMs} marks={marks} />
              <PhasesChart steps={data} span={span} stepMs={stepMs} />
            </div>
          )
        }
      </Loaded>
      <div class="columns">
        <Loaded result={results.heatmap} what="The counts of the distribution">
          {heatmap => (heatmap.data.length === 0 ? null : <HeatMap heatmap={heatmap} span={span} />)}
        </Loaded>
      </div>
    </Section>
  )
}

const RangeLinks = ({ id, current }: { id: string; current: string }) => (
  <nav class="choice small" aria-label="Time range">
    {RANGE_NAMES.map(name => (
      <a key={name} href={`/monitors/${id}?range=${name}#latency`} aria-current={name === current ? 'true' : undefined}>
        {getRange(name).name}
      </a>
    ))}
  </nav>
)

/** Outages and maintenance of the range. */
function toMarks(uptime: OperationResponse<'readAnalyticsUptime'> | null): Mark[] {
  return (uptime?.data.intervals ?? []).flatMap(({ status, is_maintenance: isMaintenance, from, to }) => {
    if (status !== 'down' && !isMaintenance) return []
    const kind = isMaintenance ? 'maintenance' : 'outage'
    return { kind, fromMs: Date.parse(from), toMs: Date.parse(to) } satisfies Mark
  })
}
