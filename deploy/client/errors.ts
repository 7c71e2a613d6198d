import type { Error as ErrorBody } from './gen/types.gen.ts'

/** The codes of statuses that proxies and load balancers answer themselves. */
const CODES: Record<number, ErrorBody['error']['code']> = {
  413: 'payload_too_large',
  429: 'rate_limited',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
}

/** Whether the body of an answer is an error of Picket's API. */
function isErrorBody(body: unknown): body is ErrorBody {
  const error = (body as Partial<ErrorBody> | null)?.error
  return typeof error?.code === 'string' && typeof error.message === 'string'
}

/** The error of an answer. One of another program, such as a proxy, gets the same fields. */
export function toErrorBody(body: unknown, { status }: Pick<Response, 'status'>, url: string): ErrorBody {
  if (isErrorBody(body)) return body
  const { origin } = new URL(url)
  // 304 is the answer to If-None-Match
  const message = `${origin} answered ${status}${status === 304 ? ' (not modified)' : ', but not as a Picket server'}`
  return { error: { code: CODES[status] ?? 'internal_error', message, status } }
}

/** A page instead of JSON is an error, whatever its status is: it is the answer of another program. */
export function rejectPage(response: Response): Response {
  if (response.ok && /^text\/html\b/i.test(response.headers.get('content-type') ?? ''))
    Object.defineProperty(response, 'ok', { value: false })
  return response
}
