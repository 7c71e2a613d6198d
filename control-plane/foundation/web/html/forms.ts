import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../server/app.ts'
import { sendError, toApiError } from '../server/error-response.ts'
import { ApiError } from '../server/errors.ts'
import type { RenderedDocument } from './document.tsx'
import { renderErrorPage } from './form-page.tsx'

const MAX_FORM_BYTES = 16_384

/** In a scope of its own: only forms of pages are sent here, as browsers write them. */
export function acceptForms(app: App): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: unknown, body: string) => body,
  )
  limitBodySize(app, MAX_FORM_BYTES)
}

/** The routes that are declared after this in the scope take bodies of at most `bytes`. */
export function limitBodySize(app: App, bytes: number): void {
  app.addHook('onRoute', route => {
    route.bodyLimit ??= bytes
  })
}

/** A form's fields by name; one that was not sent is empty. */
export function parseFormFields({ body }: FastifyRequest): (name: string) => string {
  const fields = new URLSearchParams(typeof body === 'string' ? body : '')
  return name => (fields.get(name) ?? '').slice(0, 2_100)
}

/**
 * Throws 403 for a form that another site's page sent in somebody's name. Browsers say where a form comes from, so what
 * says nothing is no browser with a form of ours in it.
 */
export function assertOwnForm(request: FastifyRequest, publicUrl: string): void {
  const { origin, 'sec-fetch-site': site } = request.headers
  if (site === 'same-origin') return
  const isOwn = origin !== undefined && (origin === new URL(publicUrl).origin || parseHost(origin) === request.host)
  if (site !== undefined || !isOwn) {
    if (isOwn && site === 'none') return
    throw new ApiError(403, 'insufficient_scope', 'this form was not sent by a page of this site')
  }
}

const parseHost = (origin: string) => (URL.canParse(origin) ? new URL(origin).host : null)

/** What went wrong, for a person as a page, and for a program as everywhere. */
export function sendErrorPage(thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  reply.header('cache-control', 'no-store')
  if (!request.headers.accept?.includes('text/html')) return sendError(thrown, request, reply)
  const { status, message, extra } = toApiError(thrown, request)
  if (status >= 500) request.log.error({ err: thrown, request_id: request.id }, 'a page failed')
  if (extra.retryAfterSeconds !== undefined) reply.header('retry-after', extra.retryAfterSeconds)
  return sendPage(reply, renderErrorPage(status, message), status)
}

/** A page for one person: kept by nobody, and its address, which may hold a token, is told to no other site. */
export function sendPage(reply: FastifyReply, { html, csp }: RenderedDocument, status = 200) {
  return reply
    .code(status)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': csp,
      'cache-control': 'no-store',
      // none at all would make browsers send forms as of nowhere
      'referrer-policy': 'same-origin',
    })
    .send(html)
}
