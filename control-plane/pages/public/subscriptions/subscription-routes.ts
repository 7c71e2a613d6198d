import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CheckLiteral } from '../../../alerting/channels/types.ts'
import { now, nowMs } from '../../../foundation/platform/time/clock.ts'
import type { RenderedDocument } from '../../../foundation/web/html/document.tsx'
import { limitBodySize } from '../../../foundation/web/html/forms.ts'
import { getClientNetwork } from '../../../foundation/web/limits/client-network.ts'
import { createRateLimit } from '../../../foundation/web/limits/rate-limit.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { notFound } from '../../../foundation/web/server/errors.ts'
import type { PageView } from '../../core/types.ts'
import {
  buildSubscriberManageUrl,
  changeChoice,
  confirmSubscriber,
  findByConfirmLink,
  findByManageLink,
  type SubscriberTools,
  subscribe,
  unsubscribe,
} from '../../subscribers/actions.ts'
import { parseAddress } from '../../subscribers/address.ts'
import { MAX_FORMS_PER_MINUTE } from '../../subscribers/limits.ts'
import type { StoredSubscriber } from '../../subscribers/types.ts'
import type { CachedPage } from '../page-cache-reader.ts'
import { addDocumentRoute, addPageRoute, type PublicPages, type Query } from '../site-routes.ts'
import {
  EMPTY_FORM,
  isOneClickUnsubscribe,
  NO_COMPONENT,
  parseComponentChoice,
  parseForm,
} from './subscription-form.ts'
import {
  renderConfirmationSentPage,
  renderConfirmedPage,
  renderConfirmPage,
  renderExpiredLinkPage,
  renderManagePage,
  renderSubscribePage,
  renderUnsubscribedPage,
} from './subscription-pages.tsx'

export type SubscriptionContext = SubscriberTools & { checkLiteral: CheckLiteral; pages: PublicPages }

const MAX_FORM_BYTES = 65_536

/**
 * The forms to subscribe, confirm, change and unsubscribe (docs/design/subscribers.md). They need no script and are
 * never cached.
 */
export function subscriptionRoutes(app: App, context: SubscriptionContext): void {
  // only forms are accepted; RFC 8058 allows both encodings
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    ['application/x-www-form-urlencoded', 'multipart/form-data'],
    { parseAs: 'string' },
    async (_request: unknown, body: string) => body,
  )
  limitBodySize(app, MAX_FORM_BYTES)
  subscribeRoutes(app, context)
  confirmRoutes(app, context)
  manageRoutes(app, context)
}

function subscribeRoutes(app: App, context: SubscriptionContext): void {
  const { pages, checkLiteral } = context
  const waitSecondsFor = createFormLimit()
  addDocumentRoute(app, pages, '/subscribe', view => {
    const { html, csp } = renderSubscribePage(view)
    return { contentType: HTML, body: html, headers: { 'content-security-policy': csp }, maxAgeSeconds: 60 }
  })

  addPageRoute(app, pages, 'POST', '/subscribe', async ({ view }, request, reply) => {
    const form = parseForm(getBody(request))
    const waitSeconds = waitSecondsFor(request, view)
    if (waitSeconds > 0)
      return sendHtml(reply.code(429).header('retry-after', waitSeconds), renderSubscribePage(view, form, TOO_MANY))
    const parsed = parseAddress(form, checkLiteral)
    if ('problem' in parsed) return sendHtml(reply.code(400), renderSubscribePage(view, form, parsed.problem))
    const choice = parseComponentChoice(view, form.chosen)
    if ('problem' in choice) return sendHtml(reply.code(400), renderSubscribePage(view, form, choice.problem))
    const subscription = { address: parsed.address, componentIds: choice.componentIds }
    const outcome = await subscribe(context, view, subscription, now())
    if (outcome === 'full') return sendHtml(reply.code(409), renderSubscribePage(view, form, FULL))
    if (outcome === 'none') return sendHtml(reply.code(400), renderSubscribePage(view, form, NO_COMPONENT))
    return sendHtml(reply, renderConfirmationSentPage(view, parsed.address.kind === 'email'))
  })
}

function confirmRoutes(app: App, context: SubscriptionContext): void {
  const path = '/subscription/confirm'
  addPageRoute(app, context.pages, 'GET', path, async ({ view }, request, reply) => {
    const subscriber = await findByConfirmLink(context, view.id, parseLink(request), now())
    return subscriber
      ? sendHtml(reply, renderConfirmPage(view))
      : sendHtml(reply.code(404), renderExpiredLinkPage(view))
  })

  addPageRoute(app, context.pages, 'POST', path, async ({ view }, request, reply) => {
    const subscriber = await confirmSubscriber(context, view.id, parseLink(request), now())
    if (!subscriber) return sendHtml(reply.code(404), renderExpiredLinkPage(view))
    if (subscriber === 'full') return sendHtml(reply.code(409), renderSubscribePage(view, EMPTY_FORM, FULL))
    return sendHtml(reply, renderConfirmedPage(view, buildSubscriberManageUrl(context, view, subscriber)))
  })
}

function manageRoutes(app: App, context: SubscriptionContext): void {
  const path = '/subscription'
  addPageRoute(app, context.pages, 'GET', path, async ({ view }, request, reply) => {
    const subscriber = await findByManageLink(context, view.id, parseLink(request))
    if (!subscriber) return sendHtml(reply.code(404), renderExpiredLinkPage(view))
    return sendHtml(reply, renderManagePage(view, { chosen: subscriber.componentIds, notice: null, problem: null }))
  })

  const change = async ({ view }: CachedPage, request: FastifyRequest, reply: FastifyReply) => {
    const link = parseLink(request)
    if (isUnsubscribe(request)) {
      const isDone = await unsubscribe(context, link)
      return isDone
        ? sendHtml(reply, renderUnsubscribedPage(view))
        : sendHtml(reply.code(404), renderExpiredLinkPage(view))
    }
    const subscriber = await findByManageLink(context, view.id, link)
    if (!subscriber) return sendHtml(reply.code(404), renderExpiredLinkPage(view))
    return saveChoice(context, view, subscriber, parseForm(getBody(request)).chosen, reply)
  }
  // unsubscribing works while the page is not published too
  const unsubscribeOnly = async (request: FastifyRequest, reply: FastifyReply) => {
    if (!isUnsubscribe(request)) throw notFound('status page')
    if (!(await unsubscribe(context, parseLink(request)))) throw notFound('subscription')
    return reply.header('content-type', 'text/plain; charset=utf-8').send('You are unsubscribed.')
  }
  addPageRoute(app, context.pages, 'POST', path, change, unsubscribeOnly)
}

function isUnsubscribe(request: FastifyRequest): boolean {
  const body = getBody(request)
  return isOneClickUnsubscribe(body) || parseForm(body).action === 'unsubscribe'
}

async function saveChoice(
  context: SubscriptionContext,
  view: PageView,
  subscriber: StoredSubscriber,
  chosen: string[] | null,
  reply: FastifyReply,
) {
  const choice = parseComponentChoice(view, chosen)
  const saved = 'problem' in choice ? 'none' : await changeChoice(context, subscriber, choice.componentIds, now())
  if (saved === 'none')
    return sendHtml(reply.code(400), renderManagePage(view, { chosen, notice: null, problem: NO_COMPONENT }))
  return sendHtml(reply, renderManagePage(view, { chosen: saved, notice: 'Saved.', problem: null }))
}

const TOO_MANY = 'Too many requests. Try again in a minute.'
const FULL = 'This page has reached its maximum number of subscribers.'

/**
 * The seconds to wait because one network, or all visitors of one page, sent too many forms this minute; 0 when
 * allowed.
 */
function createFormLimit(): (request: FastifyRequest, view: PageView) => number {
  const ofClient = createRateLimit(MAX_FORMS_PER_MINUTE.client)
  const ofPage = createRateLimit(MAX_FORMS_PER_MINUTE.page)
  return (request, view) => {
    const uses = [ofClient(getClientNetwork(request), nowMs()), ofPage(view.id, nowMs())]
    return uses.find(use => !use.allowed)?.resetSeconds ?? 0
  }
}

const HTML = 'text/html; charset=utf-8'

/** Sends a personal page. It is not cached, and its address, which contains a token, is not sent as referrer. */
function sendHtml(reply: FastifyReply, { html, csp }: RenderedDocument) {
  return reply
    .headers({
      'content-type': HTML,
      'content-security-policy': csp,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    })
    .send(html)
}

const getBody = ({ body }: FastifyRequest) => (typeof body === 'string' ? body : '')

function parseLink({ query }: FastifyRequest) {
  const text = (name: string) => {
    const value = (query as Query)[name]
    return typeof value === 'string' ? value : ''
  }
  return { id: text('id'), until: text('until'), token: text('token') }
}
