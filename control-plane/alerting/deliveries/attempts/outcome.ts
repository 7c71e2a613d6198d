import type { HttpResponse } from '../../../../shared/egress/index.ts'
import type { MailResult } from '../../../foundation/platform/mail/mailer.ts'
import { MASK } from '../../../foundation/web/masked-secrets/header-map.ts'
import { listQueryParts } from '../../channels/config/masked-url.ts'
import type { PreparedDelivery } from '../rendering/prepare.ts'
import type { DeliveryOutcome, OwnFault } from '../types.ts'

/** How much of a response the log keeps, in bytes. */
export const MAX_SNIPPET_BYTES = 1_024

/** Errors that a retry cannot fix. */
const PERMANENT_CODES = ['blocked_target']

export type AttemptResponse = Pick<HttpResponse, 'statusCode' | 'error' | 'body' | 'totalUs'>

/** A shorter value is not masked: it may occur in any text. */
const MIN_SECRET_LENGTH = 4

/**
 * The outcome of an HTTP request. Only 5xx, 429, a time-out or a network error can be retried
 * (docs/design/deliveries.md#retries). `hidden`: texts that must not be in the log.
 */
export function toHttpOutcome(answer: AttemptResponse, startedAt: Date, hidden: string[]): DeliveryOutcome {
  const { statusCode, error, body, totalUs } = answer
  // an incomplete response counts as a network error
  const responseCode = error ? null : statusCode
  return {
    startedAt,
    durationMs: Math.round(totalUs / 1_000),
    responseCode,
    error: error ? error.message : null,
    isPermanent: error ? PERMANENT_CODES.includes(error.code) : isRefusal(statusCode),
    responseSnippet: body ? buildSnippet(body, hidden) : null,
  }
}

/** The log says that the receiver is not the cause. */
export function withOwnFault(outcome: DeliveryOutcome, ownFault: OwnFault | null): DeliveryOutcome {
  if (ownFault === null) return outcome
  const part = ownFault === 'resolver' ? "Picket's resolver of names" : "Picket's network"
  return { ...outcome, ownFault, error: `${part} failed, not the receiver: ${outcome.error}` }
}

const isRefusal = (statusCode: number | null) =>
  statusCode !== null && statusCode >= 300 && statusCode < 500 && statusCode !== 429

function buildSnippet(body: Buffer, hidden: string[]): string {
  // PostgreSQL's text and JSON have no NUL
  const text = body.subarray(0, MAX_SNIPPET_BYTES).toString('utf8').replaceAll('\0', '\uFFFD')
  const masked = hidden.reduce((shown, secret) => shown.replaceAll(secret, MASK), text)
  return body.length < MAX_SNIPPET_BYTES ? masked : hidden.reduce(maskTruncatedSecret, masked)
}

/** The limit may have cut the text in the middle of a secret. */
function maskTruncatedSecret(text: string, secret: string): string {
  for (let length = secret.length - 1; length >= MIN_SECRET_LENGTH; length--) {
    if (text.endsWith(secret.slice(0, length))) return text.slice(0, -length) + MASK
  }
  return text
}

/** The outcome of a mail. The codes of SMTP: 2xx is a success, 4xx is temporary like a 5xx of HTTP, 5xx is permanent. */
export function toMailOutcome(
  { code, line, error, durationMs, isServerFault }: MailResult,
  startedAt: Date,
  hidden: string[] = [],
): DeliveryOutcome {
  return {
    startedAt,
    durationMs,
    responseCode: code,
    error,
    isPermanent: code !== null && code >= 500,
    responseSnippet: line && buildSnippet(Buffer.from(line), hidden),
    ...(isServerFault && { ownFault: 'mail_server' }),
  }
}

/** The outcome when no mail server is configured. A retry would not help. */
export const NO_MAILER: Omit<DeliveryOutcome, 'startedAt'> = {
  durationMs: 0,
  responseCode: null,
  error: 'email is not configured: set SMTP_URL',
  isPermanent: true,
  responseSnippet: null,
}

/** The masked headers and address, and every query parameter. Receivers may repeat them in their response. */
export function listSecretValues({ message, shown }: Pick<PreparedDelivery, 'message' | 'shown'>): string[] {
  const masked = Object.entries(message.headers).filter(([name]) => shown.headers[name] === MASK)
  // of "Bearer x" a receiver may repeat x alone
  const values = masked.flatMap(([, value]) => [value, value.replace(/^\S+ +/, '')])
  const { pathname, search } = new URL(message.url)
  const address = message.url === shown.url ? listQueryParts(message.url) : [pathname + search, pathname]
  return [...values, ...address].filter(text => text.length >= MIN_SECRET_LENGTH)
}
