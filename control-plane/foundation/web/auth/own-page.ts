import type { FastifyRequest } from 'fastify'

/**
 * Whether a page of this installation sent the request. Browsers send the origin of a form and of a script's request that
 * changes something, so a request without it was not sent by a browser from one of these pages.
 */
export function isOwnPageRequest(request: FastifyRequest, publicUrl: string): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers
  if (site === 'same-origin') return true
  const isOwn = origin !== undefined && (origin === new URL(publicUrl).origin || parseHost(origin) === request.host)
  return isOwn && (site === undefined || site === 'none')
}

/** Whether a browser says that a page of another site caused the request, also by a link to it. */
export const isForeignPageRequest = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  ['cross-site', 'same-site'].includes(String(headers['sec-fetch-site']))

const parseHost = (origin: string) => (URL.canParse(origin) ? new URL(origin).host : null)
