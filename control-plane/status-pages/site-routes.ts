import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { App } from '../web/app.ts'
import { ApiError, notFound } from '../web/errors.ts'
import { encodingFor, isUnchanged, type MadeDocument, type PageDocument } from './document.ts'
import type { FindPage, ShownPage } from './page-reader.ts'
import { type CustomHostOf, isSlug, type Site } from './site.ts'
import type { PageView } from './types.ts'

/** How public routes come to the page that they are about. */
export type PublicPages = { find: FindPage; customHostOf: CustomHostOf }

export type Query = Record<string, unknown>
export type Answer = (shown: ShownPage, request: FastifyRequest, reply: FastifyReply) => unknown

/** Has to be called once, before the first route of pages: lets the root of a custom domain be another page than ours. */
export function addCustomHosts(app: App, { customHostOf }: PublicPages): void {
  app.addConstraintStrategy({
    name: 'customHost',
    storage: () => {
      const handlers = new Map<unknown, never>()
      return {
        get: isCustom => handlers.get(isCustom) ?? null,
        set: (isCustom, handler) => handlers.set(isCustom, handler as never),
      }
    },
    deriveConstraint: request => customHostOf(request.headers.host) !== null,
    mustMatchWhenDerived: false,
  })
}

/**
 * Declares a route of every public page at both of its places: below `/status/{slug}` and at the root of a custom
 * domain. `path` begins with a slash or is empty, for the page itself. 404 where there is no published page, unless
 * `whenHidden` answers that.
 */
export function pageRoute(
  app: App,
  pages: PublicPages,
  method: HTTPMethods,
  path: string,
  answer: Answer,
  whenHidden?: (request: FastifyRequest, reply: FastifyReply) => unknown,
): void {
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const finding = findPublicPage(pages, request, reply)
    const shown = await (whenHidden ? finding.catch(nullIfHidden) : finding)
    return shown ? answer(shown, request, reply) : whenHidden?.(request, reply)
  }
  app.route({ method, url: `/status/:slug${path}`, handler })
  app.route({ method, url: path || '/', constraints: { customHost: true }, handler })
}

function nullIfHidden(error: unknown): null {
  if (error instanceof ApiError && error.status === 404) return null
  throw error
}

/**
 * Declares a document of every public page, such as a feed, at both of its places. `make` is called once for each state
 * of a page and each `key`, by which a query that matters is told from others; null answers 404.
 */
export function documentRoute(
  app: App,
  pages: PublicPages,
  path: string,
  make: (view: PageView, query: Query) => PageDocument | null,
  keyOf: (query: Query) => string = () => '',
): void {
  pageRoute(app, pages, 'GET', path, (shown, request, reply) => {
    const query = request.query as Query
    const made = shown.document(`${path}?${keyOf(query)}`, view => make(view, query))
    if (made === null) throw notFound('page')
    return sendDocument(made, request, reply)
  })
}

/** The published page that a request is about. Throws a 404, which nobody is to keep. */
export async function findPublicPage(
  { find, customHostOf }: PublicPages,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ShownPage> {
  const { slug } = request.params as { slug?: string }
  const site = slug === undefined ? ownSite(customHostOf(request.headers.host)) : isSlug(slug) ? { slug } : null
  const shown = site && (await find(site))
  if (!shown) {
    reply.header('cache-control', 'no-store')
    throw notFound('status page')
  }
  if (shown.view.staleSince !== undefined) reply.header('x-service-stale-since', shown.view.staleSince)
  return shown
}

const ownSite = (domain: string | null): Site | null => (domain === null ? null : { domain })

/** Answers a document in the smallest encoding that is accepted, or 304 to who has it. */
export async function sendDocument(made: MadeDocument, request: FastifyRequest, reply: FastifyReply) {
  reply.headers(made.headers)
  const { 'if-none-match': tags, 'if-modified-since': since } = request.headers
  if (isUnchanged({ tags, since }, made)) return reply.code(304).send()
  const { encoding, bytes } = await made.encoded(encodingFor(request.headers['accept-encoding']))
  if (encoding !== 'identity') reply.header('content-encoding', encoding)
  return reply.send(bytes)
}
