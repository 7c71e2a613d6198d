import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from './app.ts'
import type { RenderedDocument } from './document.tsx'
import { ApiError } from './errors.ts'

const FORM_BYTES = 65_536

/** In a scope of its own: only forms of pages are sent here, as browsers write them. */
export function takeForms(app: App): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_BYTES },
    async (_request: unknown, body: string) => body,
  )
}

/** A form's fields by name; one that was not sent is empty. */
export function fieldsOf({ body }: FastifyRequest): (name: string) => string {
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
  const isOwn = origin !== undefined && (origin === new URL(publicUrl).origin || hostOf(origin) === request.host)
  if (site !== undefined || !isOwn) {
    if (isOwn && site === 'none') return
    throw new ApiError(403, 'insufficient_scope', 'this form was not sent by a page of this site')
  }
}

const hostOf = (origin: string) => (URL.canParse(origin) ? new URL(origin).host : null)

/** A page for one person: kept by nobody, and its address, which may hold a token, is told to nobody. */
export function sendPage(reply: FastifyReply, { html, csp }: RenderedDocument, status = 200) {
  return reply
    .code(status)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': csp,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    })
    .send(html)
}
