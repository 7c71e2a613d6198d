import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now, nowMs } from '../../../foundation/platform/time/clock.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { notFound } from '../../../foundation/web/server/errors.ts'
import { type PreparedDocument, prepareDocument } from '../document.ts'
import { sendDocument } from '../site-routes.ts'
import type { TrustReport } from './trust.ts'
import { toTrustJson } from './trust-json.ts'
import { renderTrustPage } from './trust-page.tsx'
import { createCachedReader, loadTrustReport } from './trust-reader.ts'

const MAX_AGE_SECONDS = 60

export type TrustTools = { db: Db; publicUrl: string; isOwnHost(host: string): boolean }

/**
 * `GET /trust` and `/trust.json`: what is guaranteed next to what canaries measured, for everybody (TRUST_PAGE). Both are
 * made once a minute at most, whatever the number of visitors.
 */
export function trustRoutes(app: App, { db, publicUrl, isOwnHost }: TrustTools): void {
  const made = createCachedReader(async () => {
    const trust = await loadTrustReport(db, now())
    return { page: makePage(publicUrl, trust), json: makeJson(trust) }
  }, nowMs)

  const route = (path: string, pick: (documents: Awaited<ReturnType<typeof made>>) => PreparedDocument) =>
    app.get(path, async (request: FastifyRequest, reply: FastifyReply) => {
      // it is about this installation; a customer's domain shows the customer's page only
      if (!isOwnHost(request.host)) throw notFound('page')
      return sendDocument(pick(await made()), request, reply)
    })
  route('/trust', ({ page }) => page)
  route('/trust.json', ({ json }) => json)
}

function makePage(publicUrl: string, trust: TrustReport): PreparedDocument {
  const { html, csp } = renderTrustPage(new URL(publicUrl).host, trust)
  const headers = { 'content-security-policy': csp, 'referrer-policy': 'strict-origin-when-cross-origin' }
  return prepareDocument({
    contentType: 'text/html; charset=utf-8',
    body: html,
    headers,
    maxAgeSeconds: MAX_AGE_SECONDS,
  })
}

function makeJson(trust: TrustReport): PreparedDocument {
  const headers = { 'access-control-allow-origin': '*' }
  const body = JSON.stringify(toTrustJson(trust))
  return prepareDocument({
    contentType: 'application/json; charset=utf-8',
    body,
    headers,
    maxAgeSeconds: MAX_AGE_SECONDS,
  })
}
