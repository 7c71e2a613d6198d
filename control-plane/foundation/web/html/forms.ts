import type { FastifyReply, FastifyRequest } from 'fastify'
import { isOwnPageRequest } from '../auth/own-page.ts'
import type { App } from '../server/app.ts'
import { sendError, toApiError } from '../server/error-response.ts'
import { ApiError } from '../server/errors.ts'
import type { RenderedDocument } from './document.tsx'
import { renderErrorPage } from './form-page.tsx'

const MAX_FORM_BYTES = 16_384

/** Makes a scope accept only HTML forms, as browsers encode them. */
export function acceptForms(app: App): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: unknown, body: string) => body,
  )
  limitBodySize(app, MAX_FORM_BYTES)
}

/** Limits the bodies of routes that are declared after this in the scope to `bytes`. */
export function limitBodySize(app: App, bytes: number): void {
  app.addHook('onRoute', route => {
    route.bodyLimit ??= bytes
  })
}

/** Reads the fields of a form by name, cut to `maxLength`; a field that was not sent is empty. */
export function parseFormFields({ body }: FastifyRequest, maxLength = 2_100): (name: string) => string {
  const fields = new URLSearchParams(typeof body === 'string' ? body : '')
  return name => (fields.get(name) ?? '').slice(0, maxLength)
}

/** Throws 403 for a form that a page of another site sent. */
export function assertOwnForm(request: FastifyRequest, publicUrl: string): void {
  if (isOwnPageRequest(request, publicUrl)) return
  throw new ApiError(403, 'insufficient_scope', 'this form was not sent from a page of this site')
}

/** Sends an error: as a page to browsers, otherwise in the common shape. */
export function sendErrorPage(thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  reply.header('cache-control', 'no-store')
  if (!request.headers.accept?.includes('text/html')) return sendError(thrown, request, reply)
  const { status, message, extra } = toApiError(thrown, request)
  if (status >= 500) request.log.error({ err: thrown, request_id: request.id }, 'a page failed')
  if (extra.retryAfterSeconds !== undefined) reply.header('retry-after', extra.retryAfterSeconds)
  return sendPage(reply, renderErrorPage(status, message), status)
}

/** Sends a page for one user. It is not cached, and its URL, which may contain a token, is not sent to other sites. */
export function sendPage(reply: FastifyReply, { html, csp }: RenderedDocument, status = 200) {
  return reply
    .code(status)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': csp,
      'cache-control': 'no-store',
      // with "no-referrer" browsers would send forms without an origin
      'referrer-policy': 'same-origin',
    })
    .send(html)
}
