import type { App } from '../web/app.ts'
import { WIDGET } from './assets.ts'
import { type BadgeQuery, badgeKey, badgeOf } from './badges/badge.ts'
import { badgeSvg } from './badges/badge-svg.ts'
import type { PageDocument } from './document.ts'
import { EMBED_THEMES, embedPage } from './embeds/embed-page.tsx'
import { atomOf } from './feeds/atom.ts'
import { changedAt } from './feeds/changed-at.ts'
import { rfc822, rssOf } from './feeds/rss.ts'
import { STATUSPAGE_FILES } from './feeds/statuspage.ts'
import { documentRoute, type PublicPages, type Query, variantRoute } from './site-routes.ts'
import type { PageView } from './types.ts'

/** What programs read of a published page, and what other sites show of it (decisions 7.2). Anybody's page may read it. */
export function machineRoutes(app: App, pages: PublicPages): void {
  for (const [name, make] of Object.entries(STATUSPAGE_FILES)) {
    documentRoute(app, pages, `/api/v2/${name}`, view => jsonDocument(make(view)))
  }
  documentRoute(app, pages, '/feed.rss', view => feedDocument('application/rss+xml', rssOf(view), view))
  documentRoute(app, pages, '/feed.atom', view => feedDocument('application/atom+xml', atomOf(view), view))
  variantRoute(app, pages, '/badge.svg', badgeDocument, query => badgeKey(textsOf(query)))
  documentRoute(app, pages, '/widget.js', widgetDocument)
  documentRoute(app, pages, '/embed', embedDocument, themeOf)
}

const OPEN_TO_ALL = { 'access-control-allow-origin': '*' }
/** The same on every site that shows it, so it may be loaded from there also where a site isolates itself. */
const FROM_ANYWHERE = { ...OPEN_TO_ALL, 'cross-origin-resource-policy': 'cross-origin' }

const FEED_SECONDS = 60
const BADGE_SECONDS = 60
const WIDGET_SECONDS = 3_600

const jsonDocument = (value: object): PageDocument => ({
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify(value),
  headers: OPEN_TO_ALL,
})

const feedDocument = (type: string, body: string, view: PageView): PageDocument => ({
  contentType: `${type}; charset=utf-8`,
  body,
  headers: { ...OPEN_TO_ALL, 'last-modified': rfc822(changedAt(view)) },
  maxAgeSeconds: FEED_SECONDS,
})

const badgeDocument = (view: PageView, query: Query): PageDocument => ({
  contentType: 'image/svg+xml; charset=utf-8',
  body: badgeSvg(badgeOf(view, textsOf(query))),
  headers: { ...FROM_ANYWHERE, 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'" },
  maxAgeSeconds: BADGE_SECONDS,
})

const widgetDocument = (): PageDocument => ({
  contentType: 'text/javascript; charset=utf-8',
  body: WIDGET,
  headers: FROM_ANYWHERE,
  maxAgeSeconds: WIDGET_SECONDS,
})

const themeOf = ({ theme }: Query) => EMBED_THEMES.find(known => known === theme) ?? 'auto'

function embedDocument(view: PageView, query: Query): PageDocument {
  const { html, csp } = embedPage(view, themeOf(query))
  return {
    contentType: 'text/html; charset=utf-8',
    body: html,
    headers: { 'content-security-policy': csp, 'referrer-policy': 'no-referrer' },
  }
}

/** A name that is there twice counts for nothing. */
const textsOf = (query: Query): BadgeQuery =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => typeof value === 'string'))
