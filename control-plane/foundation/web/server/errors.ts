/** One problem of a request: its path (`regions[0]`, `assertions[1].operator`) and a sentence. */
export type ErrorDetail = { path: string; message: string }

/** The codes by which programs distinguish errors (docs/design/api.md#errors). */
export const ERROR_CODES = [
  'validation_error',
  'unauthorized',
  'api_key_suspended',
  'tier_limit_reached',
  'insufficient_scope',
  'plan_upgrade_required',
  'registration_closed',
  'not_found',
  'conflict',
  'other_session',
  'precondition_failed',
  'payload_too_large',
  'unsupported_media_type',
  'misdirected_request',
  'domain_connect_unavailable',
  'rate_limited',
  'internal_error',
  'unavailable',
] as const
type ErrorCode = (typeof ERROR_CODES)[number]

/**
 * An error for the caller. It may be thrown anywhere; error-response.ts turns it into the response. `status` is the HTTP
 * status.
 */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: ErrorCode,
    message: string,
    readonly extra: { details?: ErrorDetail[]; retryAfterSeconds?: number } = {},
  ) {
    super(message)
  }
}

/** 400. The message is the sentence of the first detail and the number of further ones. */
export function validationError(details: ErrorDetail[]): ApiError {
  const [first, ...others] = details
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  return new ApiError(400, 'validation_error', `${first?.message ?? 'the request is not valid'}${more}`, { details })
}

/** 401 */
export const unauthorized = (message: string) => new ApiError(401, 'unauthorized', message)

/** 401: the key exists, but does not work until the owner decides about it. */
export const apiKeySuspended = () =>
  new ApiError(
    401,
    'api_key_suspended',
    'this API key is suspended: the owner of the organization confirmed their email address and must keep or revoke each key that was created before',
  )

/** 402: a limit of the plan. The message contains the limit and the current count. */
export const tierLimitReached = (message: string) => new ApiError(402, 'tier_limit_reached', message)

/** 403: the scope of the key is too low. */
export const insufficientScope = (message: string) => new ApiError(403, 'insufficient_scope', message)

/** 403: the plan does not include it. */
export const planUpgradeRequired = (message: string) => new ApiError(403, 'plan_upgrade_required', message)

/** 403: REGISTRATION does not allow new accounts. */
export const registrationClosed = (message: string) => new ApiError(403, 'registration_closed', message)

const MAX_NAMED_CHARACTERS = 64

/**
 * 404. `what` is the noun: "monitor". Also for a record of another tenant and for a malformed id. `id`: where a request names
 * several, the one that was not found.
 */
export const notFound = (what: string, id?: string) =>
  new ApiError(404, 'not_found', id === undefined ? `${what} not found` : `${what} not found: ${quoteId(id)}`)

/** Malformed ids can have any length. */
const quoteId = (id: string): string =>
  JSON.stringify(id.length > MAX_NAMED_CHARACTERS ? `${id.slice(0, MAX_NAMED_CHARACTERS)}…` : id)

/** Returns a record that was read. Throws 404 with the noun if there is none: `found(isId(id) && (await find(id)), 'monitor')`. */
export function found<T>(record: T | null | undefined | false, noun: string): T {
  if (record === null || record === undefined || record === false) throw notFound(noun)
  return record
}

/** 409: a page of the dashboard shows another project, or another person, than the session of its browser. */
export const otherSession = () =>
  new ApiError(
    409,
    'other_session',
    'this page shows another organization or person than the one that this browser is signed in to now; load it again',
  )

/** 409 */
export const conflict = (message: string) => new ApiError(409, 'conflict', message)

/** 412: the record has another version than `If-Match` names. */
export const preconditionFailed = (noun: string, isWeak: boolean) =>
  new ApiError(
    412,
    'precondition_failed',
    `the ${noun} was changed after the version that If-Match names, so nothing was saved; read it again and send the ETag of that answer${
      isWeak ? ' as it is: a weak tag (W/) never matches' : ''
    }`,
  )

/** 415: the body is not JSON, or not as it can be read. */
export const unsupportedMediaType = (message = 'the body must be JSON, with Content-Type: application/json') =>
  new ApiError(415, 'unsupported_media_type', message)

/** 421: `Host` is not a name of this installation. */
export const misdirectedRequest = (publicUrl: string) =>
  new ApiError(
    421,
    'misdirected_request',
    `this installation is at ${publicUrl} and does not accept other hosts; the operator can add hosts with ALLOWED_HOSTS`,
  )

/** 422: Domain Connect cannot set up the domain. */
export const domainConnectUnavailable = (message: string) => new ApiError(422, 'domain_connect_unavailable', message)

/** 429 with `Retry-After`. */
export const rateLimited = (message: string, retryAfterSeconds: number) =>
  new ApiError(429, 'rate_limited', message, { retryAfterSeconds })

/** 503: an engine that the request needs is unreachable. */
export const unavailable = (message: string) => new ApiError(503, 'unavailable', message, { retryAfterSeconds: 5 })

/** 503: the request took or waited too long. */
export const tooBusy = (why: string) => unavailable(`${why}; try again shortly`)

/** The body of every error response. */
export function toErrorBody(error: ApiError) {
  const { status, code, message } = error
  const { details } = error.extra
  return { error: { code, message, status, ...(details && { details }) } }
}
