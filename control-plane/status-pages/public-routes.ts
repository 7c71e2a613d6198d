import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Metrics } from '../../shared/metrics.ts'
import type { Clickhouse } from '../platform/clickhouse.ts'
import type { Db } from '../platform/postgres.ts'
import type { App } from '../web/app.ts'
import { notFound } from '../web/errors.ts'
import { createLookUp } from '../web/look-ups.ts'
import { defaultFavicon } from './default-favicon.ts'
import type { PageDocument } from './document.ts'
import { machineRoutes } from './machine-routes.ts'
import { missingPage } from './missing-page.tsx'
import { createPageReader } from './page-reader.ts'
import { renderPage } from './render.ts'
import { createCustomHostOf, isSlug } from './site.ts'
import { type Answer, addCustomHosts, type PublicPages, pageRoute, sendDocument } from './site-routes.ts'
import { type SubscriptionContext, subscriptionRoutes } from './subscribers/public-routes.ts'
import type { ImageKind, LoadedPage, PageView } from './types.ts'
import { createViewReader } from './view-reader.ts'

export type PublicContext = Omit<SubscriptionContext, 'pages'> & {
  db: Db
  clickhouse: Clickhouse
  metrics: Metrics
  publicUrl: string
  /** hosts of this installation, which are nobody's custom domain */
  ownHosts: readonly string[]
}

/** Of one network: pages that do not exist, each of which is remembered for a second. */
const UNKNOWN_PER_MINUTE = 120

/**
 * What visitors of published pages get, at `{origin}/status/{slug}` and at the root of custom domains (decisions 7.2).
 * More of it is declared by `pageRoute` and `documentRoute` of site-routes.ts.
 */
export function publicPageRoutes(app: App, context: PublicContext): void {
  const answers = context.metrics.counter(
    'picket_status_page_answers_total',
    'Answers of public status pages by where they came from: fresh and stale from memory, unchanged and loaded from PostgreSQL',
    ['from'],
  )
  const find = createPageReader({ read: createViewReader(context), count: from => answers.inc({ from }) })
  const lookUp = createLookUp({ what: 'status pages', missesPerMinute: UNKNOWN_PER_MINUTE })
  const pages: PublicPages = { find, customHostOf: createCustomHostOf(context.ownHosts), lookUp }
  addCustomHosts(app, pages)
  pageRoute(app, pages, 'GET', '', sendPage, sendMissing)
  slashRoute(app)
  imageRoute(app, pages, 'logo')
  imageRoute(app, pages, 'favicon')
  machineRoutes(app, pages)
  app.register(async scope => subscriptionRoutes(scope as App, { ...context, pages }))
}

/** People write a slash at the end. */
function slashRoute(app: App): void {
  app.get<{ Params: { slug: string } }>('/status/:slug/', async ({ params: { slug } }, reply) => {
    if (!isSlug(slug)) throw notFound('status page')
    return reply.redirect(`/status/${slug}`, 308)
  })
}

const sendPage: Answer = (shown, request, reply) => sendDocument(shown.document('', pageDocument)!, request, reply)

/** People get a page that says so, programs the error that they get everywhere. */
function sendMissing(request: FastifyRequest, reply: FastifyReply) {
  if (!request.headers.accept?.includes('text/html')) throw notFound('status page')
  const { html, csp } = missingPage()
  return reply
    .code(404)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': csp,
      'cache-control': 'no-store',
    })
    .send(html)
}

function pageDocument(view: PageView): PageDocument {
  const { html, csp } = renderPage(view)
  const headers = { 'content-security-policy': csp, 'referrer-policy': 'strict-origin-when-cross-origin' }
  return { contentType: 'text/html; charset=utf-8', body: html, headers }
}

/** A picture and nothing else, also when somebody opens it by itself: whatever an SVG holds, it runs and loads nothing. */
const IMAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
const YEAR_SECONDS = 365 * 86_400
const MINUTE_SECONDS = 60

function imageRoute(app: App, pages: PublicPages, kind: ImageKind): void {
  pageRoute(app, pages, 'GET', `/${kind}`, (shown, request, reply) => {
    const { v } = request.query as { v?: unknown }
    const isNamed = v === shown.page.images[kind]?.id
    const made = shown.document(`${kind}?${isNamed}`, () => imageDocument(shown.page, kind, isNamed))
    if (made === null) throw notFound('image')
    return sendDocument(made, request, reply)
  })
}

/** `isNamed`: asked for by its id, under which there will never be another one. */
function imageDocument({ images, view }: LoadedPage, kind: ImageKind, isNamed: boolean): PageDocument | null {
  const image = images[kind] ?? (kind === 'favicon' ? defaultFavicon(view.brandColor) : null)
  const headers = { 'content-security-policy': IMAGE_POLICY }
  const maxAgeSeconds = isNamed ? YEAR_SECONDS : MINUTE_SECONDS
  return image && { contentType: image.contentType, body: image.bytes, headers, maxAgeSeconds }
}
