import { escapeXml } from '../../../foundation/web/html/escape.ts'
import type { PageView } from '../../core/types.ts'
import { findLastChange } from './changed-at.ts'
import { buildFeedEntries, type PageFeedEntry } from './entries.ts'

/** Incidents and maintenance of a page as RSS 2.0. */
export function renderRss(view: PageView): string {
  const { name, publicUrl } = view
  return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
<title>${escapeXml(name)}</title>
<link>${escapeXml(publicUrl)}</link>
<description>${escapeXml(`Incidents and maintenance of ${name}`)}</description>
<language>en</language>
<lastBuildDate>${formatRfc822(findLastChange(view))}</lastBuildDate>
<ttl>1</ttl>
<atom:link href="${escapeXml(`${publicUrl}/feed.rss`)}" rel="self" type="application/rss+xml"/>
${buildFeedEntries(view).map(renderItem).join('')}</channel>
</rss>
`
}

const renderItem = ({ id, title, link, html, publishedAt }: PageFeedEntry) => `<item>
<title>${escapeXml(title)}</title>
<link>${escapeXml(link)}</link>
<guid isPermaLink="false">${escapeXml(id)}</guid>
<pubDate>${formatRfc822(publishedAt)}</pubDate>
<description>${escapeXml(html)}</description>
</item>
`

/** "Sat, 21 Nov 2026 10:04:00 GMT", the format of times in RSS and HTTP. */
export const formatRfc822 = (at: string): string => new Date(at).toUTCString()
