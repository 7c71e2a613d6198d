import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CheckLiteral } from '../../channels/types.ts'
import { now, nowMs } from '../../platform/clock.ts'
import type { App } from '../../web/app.ts'
import type { RenderedDocument } from '../../web/document.tsx'
import { notFound } from '../../web/errors.ts'
import { limitBodies } from '../../web/forms.ts'
import { clientNetworkOf } from '../../web/network.ts'
import { createRateLimit } from '../../web/rate-limit.ts'
import type { ShownPage } from '../page-reader.ts'
import { documentRoute, type PublicPages, pageRoute, type Query } from '../site-routes.ts'
import type { PageView } from '../types.ts'
import {
  confirmSubscriber,
  manageUrlOf,
  openConfirmLink,
  openManageLink,
  type SubscriberTools,
  subscribe,
} from './actions.ts'
import { readAddress } from './address.ts'
import { EMPTY_FORM, isOneClick, readChoice, readForm } from './form.ts'
import { FORMS_PER_MINUTE } from './limits.ts'
import {
  confirmedPage,
  confirmPage,
  deadLinkPage,
  managePage,
  sentPage,
  subscribePage,
  unsubscribedPage,
} from './pages.tsx'
import { removeSubscriber, storeChoice } from './store.ts'
import type { StoredSubscriber } from './types.ts'

export type SubscriptionContext = SubscriberTools & { checkLiteral: CheckLiteral; pages: PublicPages }

const FORM_BYTES = 65_536

/** The forms with which people subscribe, confirm, change and end it: all of them without scripts, and never cached. */
export function subscriptionRoutes(app: App, context: SubscriptionContext): void {
  // only forms are sent here; RFC 8058 allows both ways to write them
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    ['application/x-www-form-urlencoded', 'multipart/form-data'],
    { parseAs: 'string' },
    async (_request: unknown, body: string) => body,
  )
  limitBodies(app, FORM_BYTES)
  askRoutes(app, context)
  confirmRoutes(app, context)
  manageRoutes(app, context)
}

function askRoutes(app: App, context: SubscriptionContext): void {
  const { pages, checkLiteral } = context
  const waitSecondsFor = formLimit()
  documentRoute(app, pages, '/subscribe', view => {
    const { html, csp } = subscribePage(view)
    return { contentType: HTML, body: html, headers: { 'content-security-policy': csp }, maxAgeSeconds: 60 }
  })

  pageRoute(app, pages, 'POST', '/subscribe', async ({ view }, request, reply) => {
    const form = readForm(bodyOf(request))
    const waitSeconds = waitSecondsFor(request, view)
    if (waitSeconds > 0)
      return answer(reply.code(429).header('retry-after', waitSeconds), subscribePage(view, form, TOO_MANY))
    const read = readAddress(form, checkLiteral)
    if ('problem' in read) return answer(reply.code(400), subscribePage(view, form, read.problem))
    const choice = readChoice(view, form.chosen)
    if ('problem' in choice) return answer(reply.code(400), subscribePage(view, form, choice.problem))
    const wish = { address: read.address, componentIds: choice.componentIds }
    const outcome = await subscribe(context, view, wish, now())
    if (outcome === 'full') return answer(reply.code(409), subscribePage(view, form, FULL))
    return answer(reply, sentPage(view, read.address.kind === 'email'))
  })
}

function confirmRoutes(app: App, context: SubscriptionContext): void {
  const path = '/subscription/confirm'
  pageRoute(app, context.pages, 'GET', path, async ({ view }, request, reply) => {
    const subscriber = await openConfirmLink(context, view.id, linkOf(request), now())
    return subscriber ? answer(reply, confirmPage(view)) : answer(reply.code(404), deadLinkPage(view))
  })

  pageRoute(app, context.pages, 'POST', path, async ({ view }, request, reply) => {
    const subscriber = await confirmSubscriber(context, view.id, linkOf(request), now())
    if (!subscriber) return answer(reply.code(404), deadLinkPage(view))
    if (subscriber === 'full') return answer(reply.code(409), subscribePage(view, EMPTY_FORM, FULL))
    return answer(reply, confirmedPage(view, manageUrlOf(context, view, subscriber)))
  })
}

function manageRoutes(app: App, context: SubscriptionContext): void {
  const path = '/subscription'
  pageRoute(app, context.pages, 'GET', path, async ({ view }, request, reply) => {
    const subscriber = await openManageLink(context, view.id, linkOf(request))
    if (!subscriber) return answer(reply.code(404), deadLinkPage(view))
    return answer(reply, managePage(view, { chosen: subscriber.componentIds, notice: null, problem: null }))
  })

  const change = async ({ view }: ShownPage, request: FastifyRequest, reply: FastifyReply) => {
    const subscriber = await openManageLink(context, view.id, linkOf(request))
    if (isEnd(request)) {
      // again is no error: mail programs try twice
      if (subscriber) await removeSubscriber(context.db, view.id, subscriber.id)
      return answer(reply, unsubscribedPage(view))
    }
    if (!subscriber) return answer(reply.code(404), deadLinkPage(view))
    return saveChoice(context, view, subscriber, readForm(bodyOf(request)).chosen, reply)
  }
  // what was sent once can be ended also while the page is not published
  const endOnly = async (request: FastifyRequest, reply: FastifyReply) => {
    if (!isEnd(request)) throw notFound('status page')
    const subscriber = await openManageLink(context, null, linkOf(request))
    if (subscriber) await removeSubscriber(context.db, subscriber.pageId, subscriber.id)
    return reply.header('content-type', 'text/plain; charset=utf-8').send('You are unsubscribed.')
  }
  pageRoute(app, context.pages, 'POST', path, change, endOnly)
}

function isEnd(request: FastifyRequest): boolean {
  const body = bodyOf(request)
  return isOneClick(body) || readForm(body).action === 'unsubscribe'
}

async function saveChoice(
  { db }: SubscriptionContext,
  view: PageView,
  subscriber: StoredSubscriber,
  chosen: string[] | null,
  reply: FastifyReply,
) {
  const choice = readChoice(view, chosen)
  if ('problem' in choice) {
    return answer(reply.code(400), managePage(view, { chosen, notice: null, problem: choice.problem }))
  }
  await storeChoice(db, subscriber.id, choice.componentIds, now())
  return answer(reply, managePage(view, { chosen: choice.componentIds, notice: 'Saved.', problem: null }))
}

const TOO_MANY = 'Too many forms were sent. Try again in a minute.'
const FULL = 'This page takes no more subscribers.'

/** How long somebody has to wait because one network, or everybody together on one page, sent too many forms this minute; 0: not at all. */
function formLimit(): (request: FastifyRequest, view: PageView) => number {
  const ofClient = createRateLimit(FORMS_PER_MINUTE.client)
  const ofPage = createRateLimit(FORMS_PER_MINUTE.page)
  return (request, view) => {
    const uses = [ofClient(clientNetworkOf(request), nowMs()), ofPage(view.id, nowMs())]
    return uses.find(use => !use.allowed)?.resetSeconds ?? 0
  }
}

const HTML = 'text/html; charset=utf-8'

/** Of one person only: kept by nobody, and its address, which holds a token, is told to nobody. */
function answer(reply: FastifyReply, { html, csp }: RenderedDocument) {
  return reply
    .headers({
      'content-type': HTML,
      'content-security-policy': csp,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    })
    .send(html)
}

const bodyOf = ({ body }: FastifyRequest) => (typeof body === 'string' ? body : '')

function linkOf({ query }: FastifyRequest) {
  const text = (name: string) => {
    const value = (query as Query)[name]
    return typeof value === 'string' ? value : ''
  }
  return { id: text('id'), until: text('until'), token: text('token') }
}
