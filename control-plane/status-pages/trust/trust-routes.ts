import type { FastifyReply, FastifyRequest } from 'fastify'
import { now, nowMs } from '../../platform/clock.ts'
import type { Db } from '../../platform/postgres.ts'
import type { App } from '../../web/app.ts'
import { notFound } from '../../web/errors.ts'
import { type MadeDocument, makeDocument } from '../document.ts'
import { sendDocument } from '../site-routes.ts'
import { trustDocument } from './document.ts'
import type { Trust } from './trust.ts'
import { trustPage } from './trust-page.tsx'
import { createKept, readTrust } from './trust-reader.ts'

const MAX_AGE_SECONDS = 60

export type TrustTools = { db: Db; publicUrl: string; isOwnHost(host: string): boolean }

/**
 * `GET /trust` and `/trust.json`: what is guaranteed next to what canaries measured, for everybody (TRUST_PAGE). Both are
 * made once a minute at most, whatever the number of visitors.
 */
export function trustRoutes(app: App, { db, publicUrl, isOwnHost }: TrustTools): void {
  const made = createKept(async () => {
    const trust = await readTrust(db, now())
    return { page: makePage(publicUrl, trust), json: makeJson(trust) }
  }, nowMs)

  const route = (path: string, pick: (documents: Awaited<ReturnType<typeof made>>) => MadeDocument) =>
    app.get(path, async (request: FastifyRequest, reply: FastifyReply) => {
      // it is about this installation; a customer's domain shows the customer's page only
      if (!isOwnHost(request.host)) throw notFound('page')
      return sendDocument(pick(await made()), request, reply)
    })
  route('/trust', ({ page }) => page)
  route('/trust.json', ({ json }) => json)
}

function makePage(publicUrl: string, trust: Trust): MadeDocument {
  const { html, csp } = trustPage(new URL(publicUrl).host, trust)
  const headers = { 'content-security-policy': csp, 'referrer-policy': 'strict-origin-when-cross-origin' }
  return makeDocument({ contentType: 'text/html; charset=utf-8', body: html, headers, maxAgeSeconds: MAX_AGE_SECONDS })
}

function makeJson(trust: Trust): MadeDocument {
  const headers = { 'access-control-allow-origin': '*' }
  const body = JSON.stringify(trustDocument(trust))
  return makeDocument({ contentType: 'application/json; charset=utf-8', body, headers, maxAgeSeconds: MAX_AGE_SECONDS })
}
