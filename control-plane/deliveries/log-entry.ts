import { Type } from 'typebox'
import { enumOf, Id, nullable, Timestamp } from '../web/schemas.ts'
import { channelNamesOf, shownChannelNames } from './channel-name.ts'
import { DELIVERY_STATUSES, type DeliveryStatus, type LoggedAttempt, type Outcome } from './types.ts'

export type DeliveryRow = {
  id: string
  channelId: string
  eventName: string
  status: DeliveryStatus
  attempts: LoggedAttempt[]
  attemptsLeftOut: number
  requestUrl: string | null
  requestHeaders: Record<string, string> | null
  requestBody: Buffer | null
  createdAt: Date
  updatedAt: Date
}

/** An entry of the alert log (decisions 6.7). What was not rendered yet has no request. */
export const LogEntry = Type.Object(
  {
    id: Id,
    delivery_id: Type.String({ description: 'whd_…, the same in every attempt and replay' }),
    ...shownChannelNames,
    event: Type.String(),
    status: enumOf(DELIVERY_STATUSES),
    attempts: Type.Array(
      Type.Object({
        at: Timestamp,
        response_code: nullable(Type.Integer()),
        duration_ms: Type.Integer(),
        error: nullable(Type.String()),
        response_snippet: nullable(Type.String()),
      }),
    ),
    attempts_left_out: Type.Integer({
      description: 'attempts between the third and the last ten, which are not shown',
    }),
    request_url: nullable(Type.String()),
    request_headers: nullable(Type.Record(Type.String(), Type.String())),
    request_body: nullable(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'AlertLogEntry' },
)

export function presentLogEntry(row: DeliveryRow) {
  return {
    id: row.id,
    delivery_id: row.id,
    ...channelNamesOf(row.channelId),
    event: row.eventName,
    status: row.status,
    attempts: row.attempts,
    attempts_left_out: row.attemptsLeftOut,
    request_url: row.requestUrl,
    request_headers: row.requestHeaders,
    request_body: row.requestBody?.toString('utf8') ?? null,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  }
}

/** An outcome as the log keeps it. */
export function toLogged({ startedAt, responseCode, durationMs, error, responseSnippet }: Outcome): LoggedAttempt {
  return {
    at: startedAt.toISOString(),
    response_code: responseCode,
    duration_ms: durationMs,
    error,
    response_snippet: responseSnippet,
  }
}

/** A delivery that ended without a request, for a reason that is ours. */
export function endedByUs(error: string, now: Date): LoggedAttempt {
  return { at: now.toISOString(), response_code: null, duration_ms: 0, error, response_snippet: null }
}
