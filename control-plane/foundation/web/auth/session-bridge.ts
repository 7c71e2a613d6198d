import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'

/**
 * The API for pages of this installation, below `/session/api/v1`: the same routes, with the session cookie instead of an
 * API key (docs/design/dashboard.md#session-bridge). Cookies have no effect anywhere else in the API.
 */
const SESSION_API_PREFIX = '/session/api/v1'

const SESSION_ORIGIN_LENGTH = '/session'.length
const IS_SESSION_REQUEST = Symbol('session request')

type MarkedMessage = IncomingMessage & { [IS_SESSION_REQUEST]?: boolean }

/** `rewriteUrl` of the server: removes `/session` from the address and marks the message. Other addresses stay as they are. */
export function rewriteSessionUrl(message: IncomingMessage): string {
  const url = message.url ?? '/'
  if (!url.startsWith(`${SESSION_API_PREFIX}/`)) return url
  ;(message as MarkedMessage)[IS_SESSION_REQUEST] = true
  return url.slice(SESSION_ORIGIN_LENGTH)
}

/** Whether the request came to the session bridge. */
export const isSessionRequest = ({ raw }: Pick<FastifyRequest, 'raw'>): boolean =>
  (raw as MarkedMessage)[IS_SESSION_REQUEST] === true
