import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import {
  CHECK_STATUSES,
  FailureSource,
  Outcome,
  type Result,
  STATUS_OF_OUTCOME,
  Trigger,
} from '../../../../shared/checks/result.ts'
import { Id, nullable, stringEnum, Timestamp } from '../../../foundation/web/validation/schemas.ts'
import { checkDetailsSchema, NO_CHECK_DETAILS, toCheckDetails } from './check-details.ts'

const SOURCES = {
  [FailureSource.NONE]: null,
  [FailureSource.TARGET]: 'target',
  [FailureSource.RESOLVER]: 'resolver',
  [FailureSource.INTERNAL]: 'internal',
} as const

const TRIGGERS = {
  [Trigger.SLOT]: 'schedule',
  [Trigger.RUN_NOW]: 'run_now',
  [Trigger.SECOND_OPINION]: 'second_opinion',
  [Trigger.OTHER_PROBE]: 'second_opinion',
  [Trigger.ASIDE]: 'run_now',
  // never shown: the result of a witness is part of the transition that it confirmed
  [Trigger.WITNESS]: 'second_opinion',
} as const

const Milliseconds = Type.Number({ description: 'In milliseconds, with up to 3 decimals.' })

/** A check in the API. `probe_id` is null when no probe could be asked. */
export const CheckResult = Type.Object(
  {
    id: Id,
    monitor_id: Id,
    region: Type.String(),
    probe_id: nullable(Id),
    status: stringEnum(CHECK_STATUSES),
    scheduled_at: Timestamp,
    started_at: nullable(Timestamp),
    attempt: Type.Integer(),
    trigger: stringEnum([...new Set(Object.values(TRIGGERS))]),
    response_time_ms: nullable(Milliseconds, { description: 'In milliseconds. Null when no probe made the check.' }),
    timings: nullable(
      Type.Object({
        dns_ms: Milliseconds,
        connect_ms: Milliseconds,
        tls_ms: Milliseconds,
        first_byte_ms: Milliseconds,
        transfer_ms: Milliseconds,
      }),
      { description: 'Null when no probe made the check.' },
    ),
    status_code: nullable(Type.Integer()),
    error: nullable(
      Type.Object({
        source: stringEnum(['target', 'resolver', 'internal']),
        code: Type.String(),
        message: Type.String(),
      }),
    ),
    failed_assertions: Type.Array(
      Type.Object({ type: Type.String(), operator: Type.String(), value: Type.String(), actual: Type.String() }),
    ),
    resolved_ip: nullable(Type.String()),
    screenshot_url: nullable(Type.String()),
    ...checkDetailsSchema,
  },
  { title: 'CheckResult' },
)

/** Builds the API's representation of a result of a probe. */
export function toCheckResultResponse(result: Result, region: string, probeId: string) {
  const { timings, error } = result
  const source = error && SOURCES[error.source]
  return {
    id: computeResultId(result, region, probeId),
    monitor_id: result.monitorId,
    region,
    probe_id: probeId,
    status: STATUS_OF_OUTCOME[result.outcome],
    scheduled_at: new Date(result.scheduledAtMs),
    started_at: new Date(result.startedAtMs),
    attempt: result.attempt,
    trigger: TRIGGERS[result.trigger],
    response_time_ms: result.totalUs / 1_000,
    timings: {
      dns_ms: (timings?.dnsUs ?? 0) / 1_000,
      connect_ms: (timings?.connectUs ?? 0) / 1_000,
      tls_ms: (timings?.tlsUs ?? 0) / 1_000,
      first_byte_ms: (timings?.firstByteUs ?? 0) / 1_000,
      transfer_ms: (timings?.transferUs ?? 0) / 1_000,
    },
    status_code: result.statusCode || null,
    error: error && source ? { source, code: error.code, message: error.message } : null,
    failed_assertions: result.failedAssertions,
    resolved_ip: result.resolvedIp || null,
    screenshot_url: null,
    ...toCheckDetails(result),
  }
}

/** Builds a result for a region in which no probe made the check. Its status is `unknown`, because the target is not the cause. */
export function toMissingResultResponse(monitorId: string, region: string, atMs: number, error: MissingResultReason) {
  return {
    id: hashToId([monitorId, region, atMs, 1, '', 0]),
    monitor_id: monitorId,
    region,
    probe_id: null,
    status: STATUS_OF_OUTCOME[Outcome.UNKNOWN],
    scheduled_at: new Date(atMs),
    started_at: null,
    attempt: 1,
    trigger: TRIGGERS[Trigger.RUN_NOW],
    response_time_ms: null,
    timings: null,
    status_code: null,
    error: { source: SOURCES[FailureSource.INTERNAL], ...error },
    failed_assertions: [],
    resolved_ip: null,
    screenshot_url: null,
    ...NO_CHECK_DETAILS,
  }
}

type MissingResultReason = { code: 'no_probe' | 'no_answer'; message: string }
export type CheckResultResponse = ReturnType<typeof toCheckResultResponse> | ReturnType<typeof toMissingResultResponse>

/** Computes the id of a result, a UUID of version 8, from the fields that identify it. It is the same for every read. */
function computeResultId(result: Result, region: string, probeId: string): string {
  return hashToId([result.monitorId, region, result.scheduledAtMs, result.attempt, probeId, result.epoch])
}

function hashToId(key: (string | number)[]): string {
  const hex = createHash('sha256').update(key.join(' ')).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
