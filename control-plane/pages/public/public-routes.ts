import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Metrics } from '../../../shared/process/metrics.ts'
import type { Clickhouse } from '../../foundation/platform/clickhouse.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import type { PageDocument } from '../../foundation/web/html/prepared-document.ts'
import { sendDocument } from '../../foundation/web/html/send-document.ts'
import { createPublicLookup } from '../../foundation/web/limits/public-lookup.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { notFound } from '../../foundation/web/server/errors.ts'
import { addScope } from '../../foundation/web/server/scope.ts'
import { IMAGE_POLICY } from '../core/images/image-format.ts'
import type { ImageKind, LoadedPage, PageView } from '../core/types.ts'
import { buildDefaultFavicon } from '../templates/document/default-favicon.ts'
import { renderNotFoundPage } from '../templates/document/not-found-page.tsx'
import { renderPage } from '../templates/document/render.ts'
import { feedRoutes } from './feed-routes.ts'
import { createPageCache } from './page-cache-reader.ts'
import { createCustomHostParser, isSlug } from './site.ts'
import { addCustomHostConstraint, addPageRoute, type PageHandler, type PublicPages } from './site-routes.ts'
import { type SubscriptionContext, subscriptionRoutes } from './subscriptions/subscription-routes.ts'
import { createViewReader } from './view/view-reader.ts'

type PublicPagesContext = Omit<SubscriptionContext, 'pages'> & {
  db: Db
  clickhouse: Clickhouse
  metrics: Metrics
  publicUrl: string
  /** hosts of this installation, which are not custom domains */
  ownHosts: readonly string[]
}

/** Requests of one network for pages that do not exist. Each miss is remembered for a second. */
const MAX_MISSES_PER_MINUTE = 120

/**
 * The routes of published pages, at `{origin}/status/{slug}` and at the root of custom domains
 * (docs/design/status-pages.md#public-site). They are declared with `addPageRoute` and `addDocumentRoute` of
 * site-routes.ts.
 */
export function publicPageRoutes(app: App, context: PublicPagesContext): void {
  const responses = context.metrics.counter(
    'picket_status_page_answers_total',
    'Responses of public status pages by source: fresh and stale from memory, unchanged and loaded from PostgreSQL',
    ['from'],
  )
  const find = createPageCache({ read: createViewReader(context), count: from => responses.inc({ from }) })
  const lookUp = createPublicLookup({ what: 'status pages', missesPerMinute: MAX_MISSES_PER_MINUTE })
  const pages: PublicPages = { find, parseCustomHost: createCustomHostParser(context.ownHosts), lookUp }
  addCustomHostConstraint(app, pages)
  addPageRoute(app, pages, 'GET', '', sendPage, sendMissing)
  addSlashRoute(app)
  addImageRoute(app, pages, 'logo')
  addImageRoute(app, pages, 'favicon')
  feedRoutes(app, pages)
  addScope(app, scope => subscriptionRoutes(scope, { ...context, pages }))
}

/** Redirects addresses with a trailing slash. */
function addSlashRoute(app: App): void {
  app.get<{ Params: { slug: string } }>('/status/:slug/', async ({ params: { slug } }, reply) => {
    if (!isSlug(slug)) throw notFound('status page')
    return reply.redirect(`/status/${slug}`, 308)
  })
}

const sendPage: PageHandler = (shown, request, reply) =>
  sendDocument(shown.document('', buildPageDocument)!, request, reply)

/** Browsers get a 404 page, programs the usual JSON error. */
function sendMissing(request: FastifyRequest, reply: FastifyReply) {
  if (!request.headers.accept?.includes('text/html')) throw notFound('status page')
  const { html, csp } = renderNotFoundPage()
  return reply
    .code(404)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': csp,
      'cache-control': 'no-store',
    })
    .send(html)
}

function buildPageDocument(view: PageView): PageDocument {
  const { html, csp } = renderPage(view)
  const headers = { 'content-security-policy': csp, 'referrer-policy': 'strict-origin-when-cross-origin' }
  return { contentType: 'text/html; charset=utf-8', body: html, headers }
}

const YEAR_SECONDS = 365 * 86_400
const MINUTE_SECONDS = 60

function addImageRoute(app: App, pages: PublicPages, kind: ImageKind): void {
  addPageRoute(app, pages, 'GET', `/${kind}`, (shown, request, reply) => {
    const { v } = request.query as { v?: unknown }
    const image = shown.page.images[kind]
    const isVersioned = image !== null && v === image.id
    const document = shown.document(`${kind}?${isVersioned}`, () => buildImageDocument(shown.page, kind, isVersioned))
    if (document === null) throw notFound('image')
    return sendDocument(document, request, reply)
  })
}

/** `isVersioned`: requested by its id. The bytes of an id never change, so it is cached for a year. */
function buildImageDocument({ images, view }: LoadedPage, kind: ImageKind, isVersioned: boolean): PageDocument | null {
  const image = images[kind] ?? (kind === 'favicon' ? buildDefaultFavicon(view.brandColor) : null)
  const headers = { 'content-security-policy': IMAGE_POLICY }
  const maxAgeSeconds = isVersioned ? YEAR_SECONDS : MINUTE_SECONDS
  return image && { contentType: image.contentType, body: image.bytes, headers, maxAgeSeconds }
}
