import type { PageDocument } from '../../foundation/web/html/prepared-document.ts'
import type { App } from '../../foundation/web/server/app.ts'
import type { PageView } from '../core/types.ts'
import { WIDGET } from '../templates/assets.ts'
import { type BadgeQuery, buildBadge, buildBadgeKey } from './embeds/badge.ts'
import { renderBadge } from './embeds/badge-svg.ts'
import { EMBED_THEMES } from './embeds/embed-options.ts'
import { renderEmbedPage } from './embeds/embed-page.tsx'
import { renderAtom } from './feeds/atom.ts'
import { findLastChange } from './feeds/changed-at.ts'
import { renderRss } from './feeds/rss.ts'
import { STATUSPAGE_FILES } from './feeds/statuspage.ts'
import { addDocumentRoute, addVariantRoute, type PublicPages, type Query } from './site-routes.ts'

/**
 * JSON, feeds, badge, widget and frame of a published page, for programs and other sites
 * (docs/design/status-pages.md#public-site).
 */
export function feedRoutes(app: App, pages: PublicPages): void {
  for (const [name, make] of Object.entries(STATUSPAGE_FILES)) {
    addDocumentRoute(app, pages, `/api/v2/${name}`, view => jsonDocument(make(view)))
  }
  addDocumentRoute(app, pages, '/feed.rss', view => feedDocument('application/rss+xml', renderRss(view), view))
  addDocumentRoute(app, pages, '/feed.atom', view => feedDocument('application/atom+xml', renderAtom(view), view))
  addVariantRoute(app, pages, '/badge.svg', badgeDocument, query => buildBadgeKey(pickTexts(query)))
  addDocumentRoute(app, pages, '/widget.js', widgetDocument)
  addDocumentRoute(app, pages, '/embed', embedDocument, parseTheme)
}

/** Programs of other sites may also read whether a document is old. */
const ALLOW_ANY_ORIGIN = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'x-service-stale-since',
}
/** May also be loaded by sites that are cross-origin isolated. */
const ALLOW_ANY_SITE = { ...ALLOW_ANY_ORIGIN, 'cross-origin-resource-policy': 'cross-origin' }

const FEED_SECONDS = 60
const BADGE_SECONDS = 60
const WIDGET_SECONDS = 3_600

const jsonDocument = (value: object): PageDocument => ({
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify(value),
  headers: ALLOW_ANY_ORIGIN,
})

const feedDocument = (type: string, body: string, view: PageView): PageDocument => ({
  contentType: `${type}; charset=utf-8`,
  body,
  headers: { ...ALLOW_ANY_ORIGIN, 'last-modified': new Date(findLastChange(view)).toUTCString() },
  maxAgeSeconds: FEED_SECONDS,
})

const badgeDocument = (view: PageView, query: Query): PageDocument => ({
  contentType: 'image/svg+xml; charset=utf-8',
  body: renderBadge(buildBadge(view, pickTexts(query))),
  headers: { ...ALLOW_ANY_SITE, 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'" },
  maxAgeSeconds: BADGE_SECONDS,
})

const widgetDocument = (): PageDocument => ({
  contentType: 'text/javascript; charset=utf-8',
  body: WIDGET,
  headers: ALLOW_ANY_SITE,
  maxAgeSeconds: WIDGET_SECONDS,
})

const parseTheme = ({ theme }: Query) => EMBED_THEMES.find(known => known === theme) ?? 'auto'

function embedDocument(view: PageView, query: Query): PageDocument {
  const { html, csp } = renderEmbedPage(view, parseTheme(query))
  return {
    contentType: 'text/html; charset=utf-8',
    body: html,
    headers: { 'content-security-policy': csp, 'referrer-policy': 'no-referrer' },
  }
}

/** A parameter that occurs twice is ignored. */
const pickTexts = (query: Query): BadgeQuery =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => typeof value === 'string'))
