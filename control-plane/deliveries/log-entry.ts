import { Type } from 'typebox'
import { hiddenPartsOf, maskUrl } from '../channels/masked-url.ts'
import type { Secrets } from '../platform/secrets.ts'
import { type Caller, isAllowed } from '../web/auth.ts'
import { MASK } from '../web/header-map.ts'
import { enumOf, Id, nullable, Timestamp } from '../web/schemas.ts'
import { openAddress } from './address.ts'
import { channelNamesOf, shownChannelNames } from './channel-name.ts'
import { DELIVERY_STATUSES, type DeliveryStatus, type LoggedAttempt, type Outcome } from './types.ts'

export type DeliveryRow = {
  id: string
  channelId: string
  eventName: string
  status: DeliveryStatus
  attempts: LoggedAttempt[]
  attemptsLeftOut: number
  projectId: string
  /** of a process of the version before, until it is sealed */
  plainAddress: string | null
  sealedAddress: Buffer | null
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

/** Where it went; null: it was not rendered yet, or the key does not open it. */
export const addressOf = (row: DeliveryRow, secrets: Secrets): string | null =>
  row.sealedAddress === null ? row.plainAddress : openAddress(row.sealedAddress, row, secrets)

/** A caller below write sees only the host it went to: the rest of a webhook's address may be a secret. */
export function presentLogEntry(row: DeliveryRow, secrets: Secrets, caller: Caller) {
  const address = addressOf(row, secrets)
  const isHidden = address !== null && /^https?:/.test(address) && !isAllowed(caller, 'write')
  return {
    id: row.id,
    delivery_id: row.id,
    ...channelNamesOf(row.channelId),
    event: row.eventName,
    status: row.status,
    attempts: isHidden ? row.attempts.map(attempt => withoutAddress(attempt, address)) : row.attempts,
    attempts_left_out: row.attemptsLeftOut,
    request_url: isHidden ? maskUrl(address) : address,
    request_headers: row.requestHeaders,
    request_body: row.requestBody?.toString('utf8') ?? null,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  }
}

/** Receivers like to repeat what they were asked for. */
function withoutAddress(attempt: LoggedAttempt, address: string): LoggedAttempt {
  const parts = hiddenPartsOf(address)
  const hide = (text: string | null) => text && parts.reduce((shown, part) => shown.replaceAll(part, MASK), text)
  return { ...attempt, error: hide(attempt.error), response_snippet: hide(attempt.response_snippet) }
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
