import { Type } from 'typebox'
import { nullable, Timestamp } from '../../../foundation/web/validation/schemas.ts'

/** The figures of one hour from `latency_hourly` or the results. Times are in ms. */
export type LatencyRow = {
  hour: string
  region: string
} & LatencyFigures

type LatencyFigures = {
  count: number
  p50: number
  p75: number
  p90: number
  p95: number
  p99: number
  min: number
  max: number
  avg: number
}

/** The figures of one step from the results. `at`: seconds since 1970. Phases are averages, in ms, of `phased` checks. */
export type LatencyStepRow = LatencyFigures & {
  at: number
  region: string
  phased: number
  dns: number | null
  connect: number | null
  tls: number | null
  first_byte: number | null
  transfer: number | null
}

const Average = Type.Number()

const Phases = nullable(
  Type.Object({
    dns_ms: Average,
    connect_ms: Average,
    tls_ms: Average,
    first_byte_ms: Average,
    transfer_ms: Average,
  }),
  {
    description:
      'Only with `phases=true`. Averages of the checks of the step that measured phases, so that they can be stacked. Null when none did.',
  },
)

/** One step of a monitor; `region` null: all regions together. */
export const LatencyHour = Type.Object(
  {
    at: Type.Unsafe<Date | string>({ ...Timestamp, description: 'The start of the step.' }),
    hour: Type.Unsafe<Date | string>({ ...Timestamp, description: 'The start of the hour that contains the step.' }),
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
    phases: Type.Optional(Phases),
  },
  { title: 'LatencyHour' },
)

/** The range of the response: all whole steps that overlap the requested one. `to` is exclusive. */
export const LatencyMeta = Type.Object({ from: Timestamp, to: Timestamp })

/** ClickHouse prints an hour as "2026-11-21 10:00:00", in UTC. */
export function toLatencyHour({ hour, region, avg, ...figures }: LatencyRow) {
  const at = new Date(`${hour.replace(' ', 'T')}Z`)
  return { at, hour: at, region: region || null, ...figures, avg: round(avg) }
}

/** `withPhases`: the averages of the phases are part of the response. */
export function toLatencyStep(row: LatencyStepRow, withPhases: boolean) {
  const { at, region, count, p50, p75, p90, p95, p99, min, max, avg } = row
  return {
    at: new Date(at * 1_000),
    hour: new Date(Math.floor(at / 3_600) * 3_600_000),
    region: region || null,
    ...{ count, p50, p75, p90, p95, p99, min, max, avg: round(avg) },
    ...(withPhases && { phases: toPhases(row) }),
  }
}

function toPhases({ phased, dns, connect, tls, first_byte, transfer }: LatencyStepRow) {
  if (phased === 0) return null
  return {
    dns_ms: round(dns ?? 0),
    connect_ms: round(connect ?? 0),
    tls_ms: round(tls ?? 0),
    first_byte_ms: round(first_byte ?? 0),
    transfer_ms: round(transfer ?? 0),
  }
}

const round = (ms: number) => Math.round(ms * 1_000) / 1_000
