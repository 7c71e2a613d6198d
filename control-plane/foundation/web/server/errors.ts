/** One thing that is wrong with a request: where (`regions[0]`, `assertions[1].operator`) and a sentence. */
export type ErrorDetail = { path: string; message: string }

/** By which a program tells refusals apart (decisions 1.3). */
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
  'payload_too_large',
  'unsupported_media_type',
  'misdirected_request',
  'domain_connect_unavailable',
  'rate_limited',
  'internal_error',
  'unavailable',
] as const
export type ErrorCode = (typeof ERROR_CODES)[number]

/**
 * What a caller may not do, thrown wherever it is noticed and turned into the answer in one place, web/app.ts
 * (decisions 1.3). `status` is the HTTP status.
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

/** 400. The message is the first detail's sentence, and how many more there are. */
export function validationError(details: ErrorDetail[]): ApiError {
  const [first, ...others] = details
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  return new ApiError(400, 'validation_error', `${first?.message ?? 'the request is not valid'}${more}`, { details })
}

/** 401 */
export const unauthorized = (message: string) => new ApiError(401, 'unauthorized', message)

/** 401: the key exists, and does not work until an admin decides about it. */
export const apiKeySuspended = () =>
  new ApiError(
    401,
    'api_key_suspended',
    'this API key is suspended: the owner of the organization has proven their e-mail address, and has to keep or end every key that was made before',
  )

/** 402: the plan's limit; the message tells the limit and the current count (decisions 2.5). */
export const tierLimitReached = (message: string) => new ApiError(402, 'tier_limit_reached', message)

/** 403: the key may not. */
export const insufficientScope = (message: string) => new ApiError(403, 'insufficient_scope', message)

/** 403: the plan does not include it. */
export const planUpgradeRequired = (message: string) => new ApiError(403, 'plan_upgrade_required', message)

/** 403: this installation does not let everyone make accounts (REGISTRATION). */
export const registrationClosed = (message: string) => new ApiError(403, 'registration_closed', message)

/** 404. `what` is the noun: "monitor". Also for another tenant's record and for a malformed id (decisions 1.5). */
export const notFound = (what: string) => new ApiError(404, 'not_found', `${what} not found`)

/** 409 */
export const conflict = (message: string) => new ApiError(409, 'conflict', message)

/** 415: a body that is no JSON. */
export const unsupportedMediaType = () =>
  new ApiError(415, 'unsupported_media_type', 'bodies are JSON: send Content-Type: application/json')

/** 421: `Host` is a name that this installation does not have. */
export const misdirectedRequest = (publicUrl: string) =>
  new ApiError(
    421,
    'misdirected_request',
    `this installation is at ${publicUrl} and does not answer for another host; its operator can add one with ALLOWED_HOSTS`,
  )

/** 422: neither the domain nor its DNS provider can be set up by Domain Connect (decisions 1.3). */
export const domainConnectUnavailable = (message: string) => new ApiError(422, 'domain_connect_unavailable', message)

/** 429 with `Retry-After`. */
export const rateLimited = (message: string, retryAfterSeconds: number) =>
  new ApiError(429, 'rate_limited', message, { retryAfterSeconds })

/** 503: an engine that the answer needs is away. */
export const unavailable = (message: string) => new ApiError(503, 'unavailable', message, { retryAfterSeconds: 5 })

/** 503: everything is there, and has too much to do. */
export const tooBusy = (why: string) => unavailable(`${why}; try again in a moment`)

/** The body of every error answer (specification, "Errors"). */
export function toErrorBody(error: ApiError) {
  const { status, code, message } = error
  const { details } = error.extra
  return { error: { code, message, status, ...(details && { details }) } }
}
