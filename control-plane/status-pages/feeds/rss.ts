import { escapeXml } from '../../web/markup.ts'
import type { PageView } from '../types.ts'
import { changedAt } from './changed-at.ts'
import { type Entry, entriesOf } from './entries.ts'

/** What happened on a page as RSS 2.0. */
export function rssOf(view: PageView): string {
  const { name, publicUrl } = view
  return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
<title>${escapeXml(name)}</title>
<link>${escapeXml(publicUrl)}</link>
<description>${escapeXml(`Incidents and maintenance of ${name}`)}</description>
<language>en</language>
<lastBuildDate>${rfc822(changedAt(view))}</lastBuildDate>
<ttl>1</ttl>
<atom:link href="${escapeXml(`${publicUrl}/feed.rss`)}" rel="self" type="application/rss+xml"/>
${entriesOf(view).map(itemOf).join('')}</channel>
</rss>
`
}

const itemOf = ({ id, title, link, html, publishedAt }: Entry) => `<item>
<title>${escapeXml(title)}</title>
<link>${escapeXml(link)}</link>
<guid isPermaLink="false">${escapeXml(id)}</guid>
<pubDate>${rfc822(publishedAt)}</pubDate>
<description>${escapeXml(html)}</description>
</item>
`

/** "Sat, 21 Nov 2026 10:04:00 GMT", as RSS and HTTP write times. */
export const rfc822 = (at: string): string => new Date(at).toUTCString()
