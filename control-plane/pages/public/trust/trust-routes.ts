import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { monotonicMs, now } from '../../../foundation/platform/time/clock.ts'
import { type PreparedDocument, prepareDocument } from '../../../foundation/web/html/prepared-document.ts'
import { sendDocument } from '../../../foundation/web/html/send-document.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { notFound } from '../../../foundation/web/server/errors.ts'
import type { TrustReport } from './trust.ts'
import { toTrustJson } from './trust-json.ts'
import { renderTrustPage } from './trust-page.tsx'
import { createCachedReader, loadTrustReport } from './trust-reader.ts'

const MAX_AGE_SECONDS = 60

type TrustTools = { db: Db; publicUrl: string; isOwnHost(host: string): boolean }

/**
 * `GET /trust` and `/trust.json` (TRUST_PAGE): guaranteed and measured detection times, without a key
 * (docs/design/status-pages.md#trust-page). Both are rendered at most once a minute.
 */
export function trustRoutes(app: App, { db, publicUrl, isOwnHost }: TrustTools): void {
  const readDocuments = createCachedReader(async () => {
    const trust = await loadTrustReport(db, now())
    return { page: renderPageDocument(publicUrl, trust), json: renderJsonDocument(trust) }
  }, monotonicMs)

  const route = (path: string, pick: (documents: Awaited<ReturnType<typeof readDocuments>>) => PreparedDocument) =>
    app.get(path, async (request: FastifyRequest, reply: FastifyReply) => {
      // a customer's domain serves the customer's page only
      if (!isOwnHost(request.host)) throw notFound('page')
      return sendDocument(pick(await readDocuments()), request, reply)
    })
  route('/trust', ({ page }) => page)
  route('/trust.json', ({ json }) => json)
}

function renderPageDocument(publicUrl: string, trust: TrustReport): PreparedDocument {
  const { html, csp } = renderTrustPage(new URL(publicUrl).host, trust)
  const headers = { 'content-security-policy': csp, 'referrer-policy': 'strict-origin-when-cross-origin' }
  return prepareDocument({
    contentType: 'text/html; charset=utf-8',
    body: html,
    headers,
    maxAgeSeconds: MAX_AGE_SECONDS,
  })
}

function renderJsonDocument(trust: TrustReport): PreparedDocument {
  const headers = { 'access-control-allow-origin': '*' }
  const body = JSON.stringify(toTrustJson(trust))
  return prepareDocument({
    contentType: 'application/json; charset=utf-8',
    body,
    headers,
    maxAgeSeconds: MAX_AGE_SECONDS,
  })
}
