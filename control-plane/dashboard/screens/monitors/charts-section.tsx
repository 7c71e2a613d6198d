import { useState } from 'preact/hooks'
import { changeAddress } from '../../core/address.ts'
import { useFrame } from '../../core/frame-context.ts'
import type { OperationResponse } from '../../core/operations.ts'
import type { Result } from '../../core/screen.ts'
import { getRange, MIN_RANGE_MS, RANGE_NAMES, readRange, type ShownRange, toUtcText } from '../../core/time-range.ts'
import type { Mark } from '../../parts/charts/axes.tsx'
import { ChartGroup } from '../../parts/charts/chart-group.tsx'
import { HeatMap } from '../../parts/charts/heat-map.tsx'
import { LatencyChart } from '../../parts/charts/latency-chart.tsx'
import { PhasesChart } from '../../parts/charts/phases-chart.tsx'
import { describeMoment } from '../../parts/charts/readout.ts'
import { RegionCharts } from '../../parts/charts/region-charts.tsx'
import { Section } from '../../parts/layout/section.tsx'
import { Failure, Loaded } from '../../parts/layout/states.tsx'

type Results = {
  latency: Result<OperationResponse<'readAnalyticsLatency'>>
  heatmap: Result<OperationResponse<'readAnalyticsHeatmap'>>
  uptime: Result<OperationResponse<'readAnalyticsUptime'>>
}

/** The query of the response times of all regions together, without phases. */
export const buildLatencyQuery = (id: string, { fromMs, toMs, step }: ShownRange) => ({
  monitor_id: id,
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
  step,
})

/** Response times in the range that the address names; all charts share it, and one cursor. `changes`: of the settings. */
export function ChartsSection({
  id,
  search,
  results,
  regions,
  changes,
}: {
  id: string
  search: URLSearchParams
  results: Results
  /** of the monitor */
  regions: readonly string[]
  changes: readonly Mark[]
}) {
  const { nowMs, timeZone, navigate } = useFrame()
  // here, because the charts are made again when the range moves on
  const [areRegionsOpen, openRegions] = useState(false)
  const range = readRange(search, nowMs)
  const span = { fromMs: range.fromMs, toMs: range.toMs }
  const marks = [...toMarks(results.uptime.data), ...changes]
  const steps = results.latency.data?.data ?? []
  return (
    <Section id="latency" title="Response times" aside={<RangeLinks id={id} search={search} current={range.name} />}>
      <RangeForm id={id} search={search} range={range} />
      <Failure result={results.uptime} what="Outages in the charts" />
      {results.uptime.data?.data.truncated && (
        <p class="soft">The status changed too often to mark all outages. Choose a shorter range to see the others.</p>
      )}
      <ChartGroup
        key={`${span.fromMs} ${span.toMs}`}
        span={span}
        stepMs={range.stepMs}
        minMs={MIN_RANGE_MS}
        describe={atMs => describeMoment(atMs, steps, range.stepMs, marks, timeZone)}
        onChoose={({ fromMs, toMs }) =>
          navigate(
            changeAddress(`/monitors/${id}`, search, {
              ...{ range: null, from: toUtcText(fromMs), to: toUtcText(toMs) },
              page: null,
            }),
          )
        }
      >
        <Loaded result={results.latency} what="The response times">
          {({ data }) =>
            data.length === 0 ? (
              <p class="soft">No successful check in this time.</p>
            ) : (
              <>
                <div class="columns">
                  <LatencyChart steps={data} span={span} stepMs={range.stepMs} marks={marks} />
                  <PhasesChart steps={data} span={span} stepMs={range.stepMs} marks={marks} />
                </div>
                <RegionCharts
                  query={buildLatencyQuery(id, range)}
                  regions={regions}
                  span={span}
                  stepMs={range.stepMs}
                  marks={marks}
                  isOpen={areRegionsOpen}
                  onToggle={openRegions}
                />
              </>
            )
          }
        </Loaded>
        <div class="columns">
          <Loaded result={results.heatmap} what="The counts of the distribution">
            {heatmap => (heatmap.data.length === 0 ? null : <HeatMap heatmap={heatmap} span={span} marks={marks} />)}
          </Loaded>
        </div>
      </ChartGroup>
    </Section>
  )
}

type RangeProps = { id: string; search: URLSearchParams }

/** Another range. The filters of the checks stay. */
const RangeLinks = ({ id, search, current }: RangeProps & { current: ShownRange['name'] }) => (
  <nav class="choice small" aria-label="Time range">
    {RANGE_NAMES.map(name => (
      <a
        key={name}
        href={`${changeAddress(`/monitors/${id}`, search, { range: name, from: null, to: null, page: null })}#latency`}
        aria-current={name === current ? 'true' : undefined}
      >
        {getRange(name).name}
      </a>
    ))}
  </nav>
)

/** Any range, without a pointer and without scripts. */
const RangeForm = ({ id, search, range }: RangeProps & { range: ShownRange }) => (
  <form class="range-form" action={`/monitors/${id}#latency`} aria-label="Time range of the charts">
    {['region', 'status'].map(name => {
      const value = search.get(name)
      return value !== null && <input key={name} type="hidden" name={name} value={value} />
    })}
    <label>
      From (UTC)
      <input type="datetime-local" name="from" step="300" defaultValue={toUtcText(range.fromMs)} key={range.fromMs} />
    </label>
    <label>
      To (UTC)
      <input type="datetime-local" name="to" step="300" defaultValue={toUtcText(range.toMs)} key={range.toMs} />
    </label>
    <button type="submit">Show</button>
  </form>
)

/** Outages and maintenance of the range. */
function toMarks(uptime: OperationResponse<'readAnalyticsUptime'> | null): Mark[] {
  return (uptime?.data.intervals ?? []).flatMap(({ status, is_maintenance: isMaintenance, from, to }) => {
    if (status !== 'down' && !isMaintenance) return []
    const kind = isMaintenance ? 'maintenance' : 'outage'
    return { kind, fromMs: Date.parse(from), toMs: Date.parse(to) } satisfies Mark
  })
}
