import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { enumOf, Id, nullable, Timestamp } from '../web/schemas.ts'

export const CHECK_STATUSES = ['up', 'down', 'degraded', 'unknown', 'missed'] as const
const FAILURE_SOURCES = ['target', 'resolver', 'internal'] as const

const Milliseconds = Type.Number({ description: 'milliseconds, up to 3 decimals' })

/** One check as `GET /monitors/{id}/checks` shows it (decisions 3.6). */
export const CheckRecord = Type.Object({
  id: Id,
  monitor_id: Id,
  region: Type.String(),
  probe_id: Type.String(),
  status: enumOf(CHECK_STATUSES),
  scheduled_at: Timestamp,
  started_at: Timestamp,
  attempt: Type.Integer(),
  response_time_ms: Milliseconds,
  timings: Type.Object({
    dns_ms: Milliseconds,
    connect_ms: Milliseconds,
    tls_ms: Milliseconds,
    first_byte_ms: Milliseconds,
    transfer_ms: Milliseconds,
  }),
  status_code: nullable(Type.Integer()),
  error: nullable(Type.Object({ source: enumOf(FAILURE_SOURCES), code: Type.String(), message: Type.String() })),
  failed_assertions: Type.Array(
    Type.Object({ type: Type.String(), operator: Type.String(), value: Type.String(), actual: Type.String() }),
  ),
  resolved_ip: nullable(Type.String()),
  screenshot_url: nullable(Type.String()),
})

/** A row of ClickHouse's `results`; times in ms since 1970, as ClickHouse prints 64-bit integers: texts. */
export type ResultRow = {
  monitor_id: string
  region: string
  probe_id: string
  epoch: number
  scheduled_ms: string
  started_ms: string
  attempt: number
  status: (typeof CHECK_STATUSES)[number]
  total_us: number
  dns_us: number
  connect_us: number
  tls_us: number
  first_byte_us: number
  transfer_us: number
  status_code: number
  error_source: (typeof FAILURE_SOURCES)[number] | 'none'
  error_code: string
  error_message: string
  failed_assertions: string
  resolved_ip: string
}

export const RESULT_COLUMNS = `monitor_id, region, probe_id, epoch, toUnixTimestamp64Milli(scheduled_at) AS scheduled_ms,
  toUnixTimestamp64Milli(started_at) AS started_ms, attempt, status, total_us, dns_us, connect_us, tls_us,
  first_byte_us, transfer_us, status_code, error_source, error_code, error_message, failed_assertions, resolved_ip`

export function presentCheck(row: ResultRow) {
  return {
    id: idOf(row),
    monitor_id: row.monitor_id,
    region: row.region,
    probe_id: row.probe_id,
    status: row.status,
    scheduled_at: new Date(Number(row.scheduled_ms)),
    started_at: new Date(Number(row.started_ms)),
    attempt: row.attempt,
    response_time_ms: row.total_us / 1_000,
    timings: {
      dns_ms: row.dns_us / 1_000,
      connect_ms: row.connect_us / 1_000,
      tls_ms: row.tls_us / 1_000,
      first_byte_ms: row.first_byte_us / 1_000,
      transfer_ms: row.transfer_us / 1_000,
    },
    status_code: row.status_code || null,
    error:
      row.error_source === 'none'
        ? null
        : { source: row.error_source, code: row.error_code, message: row.error_message },
    failed_assertions: row.failed_assertions === '' ? [] : JSON.parse(row.failed_assertions),
    resolved_ip: row.resolved_ip || null,
    screenshot_url: null,
  }
}

/** A result has no id of its own; what makes it unique gives it one, the same at every read. A UUID of version 8. */
function idOf({ monitor_id, region, scheduled_ms, attempt, probe_id, epoch }: ResultRow): string {
  const key = [monitor_id, region, scheduled_ms, attempt, probe_id, epoch].join(' ')
  const hex = createHash('sha256').update(key).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
