import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'

/**
 * The API for pages of this installation, below `/session/api/v1`: the same routes, with the session cookie instead of an
 * API key (docs/design/dashboard.md#session-bridge). Cookies have no effect anywhere else in the API.
 * `/session/of/<project>/<user>/api/v1` is for a page that shows a project to a person: it is refused when the session has
 * become one of another project or person, for example in another tab.
 */
const SESSION_ADDRESS = /^\/session(?:\/of\/([0-9a-f-]{36})\/([0-9a-f-]{36}))?(?=\/api\/v1\/)/

const SESSION = Symbol('session')

/** The project and the person that the page of a request shows; null: any. */
type SessionView = { projectId: string; userId: string } | null
type MarkedMessage = IncomingMessage & { [SESSION]?: SessionView }

/** `rewriteUrl` of the server: removes the part before `/api/v1` and marks the message. Other addresses stay as they are. */
export function rewriteSessionUrl(message: IncomingMessage): string {
  const url = message.url ?? '/'
  const found = SESSION_ADDRESS.exec(url)
  if (!found) return url
  const [prefix, projectId, userId] = found
  ;(message as MarkedMessage)[SESSION] = projectId && userId ? { projectId, userId } : null
  return url.slice(prefix.length)
}

/** What the page of a request to the session bridge shows. Undefined: the request is not one of these. */
export const getSessionView = ({ raw }: Pick<FastifyRequest, 'raw'>): SessionView | undefined =>
  (raw as MarkedMessage)[SESSION]
