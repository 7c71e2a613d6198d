import { Type } from 'typebox'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { type ApiCaller, hasScope } from '../../../foundation/web/auth/authentication.ts'
import { MASK } from '../../../foundation/web/masked-secrets/header-map.ts'
import { Id, nullable, stringEnum, Timestamp } from '../../../foundation/web/validation/schemas.ts'
import { listHiddenParts, maskUrl } from '../../channels/config/masked-url.ts'
import { decryptAddress } from '../rendering/encrypted-address.ts'
import { DELIVERY_STATUSES, type DeliveryOutcome, type DeliveryStatus, type LoggedAttempt } from '../types.ts'
import { channelIdResponseFields, toChannelIdFields } from './channel-id-fields.ts'
import { DeliveryAbout, type DeliverySubject, toAbout } from './subject.ts'

export type DeliveryRow = {
  id: string
  channelId: string
  eventName: string
  event: DeliverySubject
  status: DeliveryStatus
  attempts: LoggedAttempt[]
  attemptsLeftOut: number
  projectId: string
  /** written by a process of the previous version, until it is encrypted */
  plainAddress: string | null
  encryptedAddress: Buffer | null
  requestHeaders: Record<string, string> | null
  requestBody: Buffer | null
  createdAt: Date
  updatedAt: Date
}

export const LoggedAttemptRecord = Type.Object({
  at: Timestamp,
  response_code: nullable(Type.Integer()),
  duration_ms: Type.Integer(),
  error: nullable(Type.String()),
  response_snippet: nullable(Type.String()),
})

/** An entry of the alert log (docs/design/deliveries.md#log). A delivery that was not rendered yet has no request. */
export const LogEntry = Type.Object(
  {
    id: Id,
    delivery_id: Type.String({ description: '`whd_…`, the same in every attempt and replay.' }),
    ...channelIdResponseFields,
    event: Type.String(),
    about: DeliveryAbout,
    status: stringEnum(DELIVERY_STATUSES),
    attempts: Type.Array(LoggedAttemptRecord),
    attempts_left_out: Type.Integer({
      description: 'Number of attempts between the first three and the last ten. They are not stored.',
    }),
    request_url: nullable(Type.String()),
    request_headers: nullable(Type.Record(Type.String(), Type.String())),
    request_body: nullable(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'AlertLogEntry' },
)

/** The address of the request; null: it was not rendered yet, or the key does not decrypt it. */
export const getRequestAddress = (row: DeliveryRow, secrets: SecretCipher): string | null =>
  row.encryptedAddress === null ? row.plainAddress : decryptAddress(row.encryptedAddress, row, secrets)

/** A caller without the scope `write` sees the host only: the rest of a webhook's address may be a secret. */
export function toLogEntryResponse(row: DeliveryRow, secrets: SecretCipher, caller: ApiCaller) {
  const address = getRequestAddress(row, secrets)
  const isHidden = address !== null && /^https?:/.test(address) && !hasScope(caller, 'write')
  return {
    id: row.id,
    delivery_id: row.id,
    ...toChannelIdFields(row.channelId),
    event: row.eventName,
    about: toAbout(row.event),
    status: row.status,
    attempts: isHidden ? row.attempts.map(attempt => maskAddress(attempt, address)) : row.attempts,
    attempts_left_out: row.attemptsLeftOut,
    request_url: isHidden ? maskUrl(address) : address,
    request_headers: row.requestHeaders,
    request_body: row.requestBody?.toString('utf8') ?? null,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  }
}

/** Receivers may repeat the requested address in their response. */
function maskAddress(attempt: LoggedAttempt, address: string): LoggedAttempt {
  const parts = listHiddenParts(address)
  const hide = (text: string | null) => text && parts.reduce((shown, part) => shown.replaceAll(part, MASK), text)
  return { ...attempt, error: hide(attempt.error), response_snippet: hide(attempt.response_snippet) }
}

/** An outcome as the log stores it. */
export function toLoggedAttempt({
  startedAt,
  responseCode,
  durationMs,
  error,
  responseSnippet,
}: DeliveryOutcome): LoggedAttempt {
  return {
    at: startedAt.toISOString(),
    response_code: responseCode,
    duration_ms: durationMs,
    error,
    response_snippet: responseSnippet,
  }
}

/** The log entry's attempt for a delivery that ended without a request, for a reason in Picket. */
export function buildUnsentAttempt(error: string, now: Date): LoggedAttempt {
  return { at: now.toISOString(), response_code: null, duration_ms: 0, error, response_snippet: null }
}
