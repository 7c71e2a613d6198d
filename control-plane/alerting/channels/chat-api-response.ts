/** An HTTP response of the provider's API, or the error without one. */
export type ChatHttpResponse = {
  statusCode: number | null
  error: object | null
  headers: Record<string, string> | null
  body: Buffer | null
}

/** The parsed response. `reason`: the provider's error code, or `unreachable`, `unavailable` or `unreadable`. */
export type ChatApiResult =
  | { ok: true; fields: Record<string, unknown> }
  | { ok: false; reason: string; retryAfterMs: number | null }

/** Longer waits that a provider asks for are cut to this. */
const MAX_RETRY_AFTER_SECONDS = 60

/**
 * Parses a response of a Slack-compatible API, which refuses with status 200 and `{"ok":false,"error":"…"}`. Only `ok: true`
 * is a success.
 */
export function parseChatResponse({ statusCode, error, headers, body }: ChatHttpResponse): ChatApiResult {
  const retryAfterMs = parseRetryAfter(headers?.['retry-after'])
  const refusal = (reason: string) => ({ ok: false as const, reason, retryAfterMs })
  if (error || statusCode === null) return refusal('unreachable')
  if (statusCode === 429) return refusal('ratelimited')
  if (statusCode >= 500) return refusal('unavailable')
  const fields = parseJsonObject(body)
  if (fields?.ok === true) return { ok: true, fields }
  const reason = fields?.ok === false ? fields.error : null
  return refusal(typeof reason === 'string' && /^\w{1,80}$/.test(reason) ? reason : 'unreadable')
}

const REVOKED_REASONS = ['token_revoked', 'account_inactive', 'invalid_auth', 'invalid_refresh_token']
const TRANSIENT_REASONS = ['unreachable', 'unavailable', 'unreadable', 'ratelimited', 'rate_limited', 'token_expired']
const TRANSIENT_PROVIDER_REASONS = ['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout']

/** Whether the team removed the app, so that no call with this token can succeed. */
export const isRevoked = (reason: string): boolean => REVOKED_REASONS.includes(reason)

/** Whether a retry may succeed. */
export const isTransient = (reason: string): boolean =>
  [...TRANSIENT_REASONS, ...TRANSIENT_PROVIDER_REASONS].includes(reason)

function parseRetryAfter(header: string | undefined): number | null {
  return header !== undefined && /^\d{1,6}$/.test(header)
    ? Math.min(Number(header), MAX_RETRY_AFTER_SECONDS) * 1_000
    : null
}

function parseJsonObject(body: Buffer | null): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse((body ?? Buffer.alloc(0)).toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
