import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { PageDocument } from '../../foundation/web/html/prepared-document.ts'
import { sendDocument } from '../../foundation/web/html/send-document.ts'
import { getClientNetwork } from '../../foundation/web/limits/client-network.ts'
import type { PublicLookup } from '../../foundation/web/limits/public-lookup.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { ApiError, notFound } from '../../foundation/web/server/errors.ts'
import type { PageView } from '../core/types.ts'
import type { CachedPage, PageFinder } from './page-cache-reader.ts'
import { type CustomHostParser, getSiteKey, isSlug, type Site } from './site.ts'

/** How public routes find their page. */
export type PublicPages = { find: PageFinder; parseCustomHost: CustomHostParser; lookUp: PublicLookup }

export type Query = Record<string, unknown>
export type PageHandler = (shown: CachedPage, request: FastifyRequest, reply: FastifyReply) => unknown

/**
 * Must be called once, before the first page route: routes with the constraint `customHost` match custom domains only.
 */
export function addCustomHostConstraint(app: App, { parseCustomHost }: PublicPages): void {
  app.addConstraintStrategy({
    name: 'customHost',
    storage: () => {
      const handlers = new Map<unknown, never>()
      return {
        get: isCustom => handlers.get(isCustom) ?? null,
        set: (isCustom, handler) => handlers.set(isCustom, handler as never),
      }
    },
    deriveConstraint: request => parseCustomHost(request.headers.host) !== null,
    mustMatchWhenDerived: false,
  })
}

/**
 * Declares a route of every public page at both addresses: below `/status/{slug}` and at the root of a custom domain.
 * `path` begins with a slash, or is empty for the page itself. Responds with 404 without a published page, unless
 * `whenHidden` responds.
 */
export function addPageRoute(
  app: App,
  pages: PublicPages,
  method: HTTPMethods,
  path: string,
  answer: PageHandler,
  whenHidden?: (request: FastifyRequest, reply: FastifyReply) => unknown,
): void {
  const look = async (request: FastifyRequest, reply: FastifyReply) => {
    const found = findPublicPage(pages, request, reply)
    const shown = await (whenHidden ? found.catch(nullIfHidden) : found)
    return shown ? answer(shown, request, reply) : whenHidden?.(request, reply)
  }
  // the hot path: a fresh page is sent without waiting, not even for a promise
  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    const site = parseSite(pages, request)
    const fresh = site && pages.find.fresh(site)
    return fresh ? answer(fresh, request, reply) : look(request, reply)
  }
  app.route({ method, url: `/status/:slug${path}`, handler })
  app.route({ method, url: path || '/', constraints: { customHost: true }, config: { hosts: 'any' }, handler })
}

function nullIfHidden(error: unknown): null {
  if (error instanceof ApiError && error.status === 404) return null
  throw error
}

/**
 * Declares a document of every public page, such as a feed, at both addresses. `make` is called once for each state
 * of a page and each key. `getKey` maps the query to a small number of keys. Null responds with 404.
 */
export function addDocumentRoute(
  app: App,
  pages: PublicPages,
  path: string,
  make: (view: PageView, query: Query) => PageDocument | null,
  getKey: (query: Query) => string = () => '',
): void {
  addPageRoute(app, pages, 'GET', path, (shown, request, reply) => {
    const query = request.query as Query
    const document = shown.document(`${path}?${getKey(query)}`, view => make(view, query))
    if (document === null) throw notFound('page')
    return sendDocument(document, request, reply)
  })
}

/**
 * Declares a small document of every public page with any number of variants, such as a badge with any label. The last
 * requested ones are kept by `getKey`; when it returns null, the document is rendered for this response only.
 */
export function addVariantRoute(
  app: App,
  pages: PublicPages,
  path: string,
  make: (view: PageView, query: Query) => PageDocument,
  getKey: (query: Query) => string | null,
): void {
  addPageRoute(app, pages, 'GET', path, (shown, request, reply) => {
    const query = request.query as Query
    return sendDocument(
      shown.variant(getKey(query), view => make(view, query)),
      request,
      reply,
    )
  })
}

/** The published page of a request. Throws 404, which must not be cached. */
async function findPublicPage(pages: PublicPages, request: FastifyRequest, reply: FastifyReply): Promise<CachedPage> {
  const site = parseSite(pages, request)
  const shown = site && (await pages.lookUp(getClientNetwork(request), getSiteKey(site), () => pages.find(site)))
  if (!shown) {
    reply.header('cache-control', 'no-store')
    throw notFound('status page')
  }
  if (shown.view.staleSince !== undefined) reply.header('x-service-stale-since', shown.view.staleSince)
  return shown
}

function parseSite({ parseCustomHost }: PublicPages, request: FastifyRequest): Site | null {
  const { slug } = request.params as { slug?: string }
  if (slug !== undefined) return isSlug(slug) ? { slug } : null
  const domain = parseCustomHost(request.headers.host)
  return domain === null ? null : { domain }
}
