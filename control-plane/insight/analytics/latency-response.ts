import { Type } from 'typebox'
import { nullable, Timestamp } from '../../foundation/web/validation/schemas.ts'
import type { LatencyRow } from './history-store.ts'

/** One hour of a monitor; `region` null: all regions together. */
export const LatencyHour = Type.Object(
  {
    hour: Timestamp,
    region: nullable(Type.String()),
    count: Type.Integer(),
    p50: Type.Number(),
    p75: Type.Number(),
    p90: Type.Number(),
    p95: Type.Number(),
    p99: Type.Number(),
    min: Type.Number(),
    max: Type.Number(),
    avg: Type.Number(),
  },
  { title: 'LatencyHour' },
)

/** The hours of the response: all whole hours that overlap the requested range. `to` is exclusive. */
export const LatencyMeta = Type.Object({ from: Timestamp, to: Timestamp })

export const toLatencyMeta = (firstHourS: number, lastHourS: number) => ({
  from: new Date(firstHourS * 1_000),
  to: new Date((lastHourS + 3_600) * 1_000),
})

/** ClickHouse prints an hour as "2026-11-21 10:00:00", in UTC. */
export function toLatencyHour({ hour, region, avg, ...figures }: LatencyRow) {
  return {
    hour: new Date(`${hour.replace(' ', 'T')}Z`),
    region: region || null,
    ...figures,
    avg: Math.round(avg * 1_000) / 1_000,
  }
}
