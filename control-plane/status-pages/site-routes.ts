import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { App } from '../web/app.ts'
import { ApiError, notFound } from '../web/errors.ts'
import type { LookUp } from '../web/look-ups.ts'
import { clientNetworkOf } from '../web/network.ts'
import { type Encoded, encodingFor, isUnchanged, type MadeDocument, type PageDocument } from './document.ts'
import type { FindPage, ShownPage } from './page-reader.ts'
import { type CustomHostOf, isSlug, type Site, siteName } from './site.ts'
import type { PageView } from './types.ts'

/** How public routes come to the page that they are about. */
export type PublicPages = { find: FindPage; customHostOf: CustomHostOf; lookUp: LookUp }

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
  const look = async (request: FastifyRequest, reply: FastifyReply) => {
    const finding = findPublicPage(pages, request, reply)
    const shown = await (whenHidden ? finding.catch(nullIfHidden) : finding)
    return shown ? answer(shown, request, reply) : whenHidden?.(request, reply)
  }
  // visitors come by the thousand: who gets what is there waits for nothing, not for a promise either
  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    const site = siteOf(pages, request)
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
 * Declares a document of every public page, such as a feed, at both of its places. `make` is called once for each state
 * of a page and each `key`, which tells apart the queries that matter, and of which there are only a few; null
 * answers 404.
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

/**
 * Declares a small document of every public page of which there are any number, such as a badge with any label. Those that
 * were asked for last are kept by `keyOf`; where it answers null the document is made for this one answer.
 */
export function variantRoute(
  app: App,
  pages: PublicPages,
  path: string,
  make: (view: PageView, query: Query) => PageDocument,
  keyOf: (query: Query) => string | null,
): void {
  pageRoute(app, pages, 'GET', path, (shown, request, reply) => {
    const query = request.query as Query
    return sendDocument(
      shown.variant(keyOf(query), view => make(view, query)),
      request,
      reply,
    )
  })
}

/** The published page that a request is about. Throws a 404, which nobody is to keep. */
export async function findPublicPage(
  pages: PublicPages,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ShownPage> {
  const site = siteOf(pages, request)
  const shown = site && (await pages.lookUp(clientNetworkOf(request), siteName(site), () => pages.find(site)))
  if (!shown) {
    reply.header('cache-control', 'no-store')
    throw notFound('status page')
  }
  if (shown.view.staleSince !== undefined) reply.header('x-service-stale-since', shown.view.staleSince)
  return shown
}

function siteOf({ customHostOf }: PublicPages, request: FastifyRequest): Site | null {
  const { slug } = request.params as { slug?: string }
  if (slug !== undefined) return isSlug(slug) ? { slug } : null
  const domain = customHostOf(request.headers.host)
  return domain === null ? null : { domain }
}

/**
 * Answers a document in the smallest encoding that is accepted, or 304 to who has it. Past the library's own way of
 * sending, which looks at each header anew: these were made once, and visitors come by the thousand.
 */
export function sendDocument(made: MadeDocument, request: FastifyRequest, reply: FastifyReply): unknown {
  const { 'if-none-match': tags, 'if-modified-since': since, 'accept-encoding': accepted } = request.headers
  if (isUnchanged({ tags, since }, made)) return reply.code(304).headers(made.headers).send()
  const wanted = encodingFor(accepted)
  const ready = made.ready(wanted)
  return ready ? sendNow(ready, reply) : made.encoded(wanted).then(encoded => sendNow(encoded, reply))
}

function sendNow({ head, bytes }: Encoded, reply: FastifyReply): void {
  const all = head.slice()
  const own = reply.getHeaders()
  for (const name in own) all.push(name, String(own[name]))
  reply.hijack()
  reply.raw.writeHead(200, all).end(bytes)
}
