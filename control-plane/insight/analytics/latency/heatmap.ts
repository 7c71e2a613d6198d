/** Checks by time and latency. Pure. */
import { Type } from 'typebox'
import { Timestamp } from '../../../foundation/web/validation/schemas.ts'
import type { StepRange } from './step-range.ts'

/** The upper bounds of all buckets but the last, in ms. A bound belongs to the next bucket. */
export const BOUNDS_MS = [10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000]

/** `at`: seconds since 1970. */
export type HeatmapRow = { at: number; counts: number[]; failed: number }

export const HeatmapStep = Type.Object(
  {
    at: Timestamp,
    counts: Type.Array(Type.Integer(), {
      description:
        'Successful checks by latency: one count for each bound, of checks below it and not below the previous one, and the last for all others.',
    }),
    failed: Type.Integer({ description: 'Checks that were down.' }),
  },
  { title: 'HeatmapStep' },
)

/** The range of the response: all whole steps that overlap the requested one. `to` is exclusive. */
export const HeatmapMeta = Type.Object({
  from: Timestamp,
  to: Timestamp,
  step_seconds: Type.Integer(),
  bounds_ms: Type.Array(Type.Integer()),
})

export const toHeatmapStep = ({ at, ...counts }: HeatmapRow) => ({ at: new Date(at * 1_000), ...counts })

export const toHeatmapMeta = ({ from, to, step }: StepRange) => ({
  from: new Date(from * 1_000),
  to: new Date(to * 1_000),
  step_seconds: step,
  bounds_ms: BOUNDS_MS,
})
