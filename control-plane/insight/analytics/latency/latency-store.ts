import { type ClickhouseSource, select } from '../../../foundation/platform/clickhouse.ts'
import { HEATMAP_SQL, LATENCY_SQL, LATENCY_STEPS_SQL } from '../clickhouse-jobs/hourly-sql.ts'
import { BOUNDS_MS, type HeatmapRow } from './heatmap.ts'
import type { LatencyRow, LatencyStepRow } from './latency-response.ts'
import type { StepRange } from './step-range.ts'

/**
 * The hours of one monitor. Times are seconds since 1970. From `liveFrom` on, hours come from the results; and earlier ones,
 * back to `oldest`, if their day is not computed yet.
 */
export function listLatency(
  clickhouse: ClickhouseSource,
  span: { monitor: string; region: string; from: number; to: number; liveFrom: number; oldest: number },
): Promise<LatencyRow[]> {
  return select<LatencyRow>(clickhouse, LATENCY_SQL, span)
}

/** One monitor; `region` empty: all regions together. The caller has checked the owner. */
type StepSpan = StepRange & { monitor: string; region: string }

/** The latency and the phases of one monitor by step, from single checks. */
export function listLatencySteps(clickhouse: ClickhouseSource, span: StepSpan): Promise<LatencyStepRow[]> {
  return select<LatencyStepRow>(clickhouse, LATENCY_STEPS_SQL, span)
}

/** The checks of one monitor by step and latency. Steps without a check are left out. */
export function listHeatmap(clickhouse: ClickhouseSource, span: StepSpan): Promise<HeatmapRow[]> {
  return select<HeatmapRow>(clickhouse, HEATMAP_SQL, { ...span, bounds: BOUNDS_MS.map(ms => ms * 1_000) })
}
