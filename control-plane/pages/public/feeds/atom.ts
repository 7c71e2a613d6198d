import { escapeXml } from '../../../foundation/web/html/escape.ts'
import type { PageView } from '../../core/types.ts'
import { findLastChange } from './changed-at.ts'
import { buildFeedEntries, type PageFeedEntry } from './entries.ts'

/** Incidents and maintenance of a page as Atom (RFC 4287). */
export function renderAtom(view: PageView): string {
  const { id, name, publicUrl } = view
  return `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
<id>urn:uuid:${escapeXml(id)}</id>
<title>${escapeXml(name)}</title>
<updated>${findLastChange(view)}</updated>
<author><name>${escapeXml(name)}</name></author>
<link href="${escapeXml(`${publicUrl}/feed.atom`)}" rel="self" type="application/atom+xml"/>
<link href="${escapeXml(publicUrl)}" rel="alternate" type="text/html"/>
${buildFeedEntries(view).map(renderEntry).join('')}</feed>
`
}

const renderEntry = ({ id, title, link, html, publishedAt, updatedAt }: PageFeedEntry) => `<entry>
<id>${escapeXml(id)}</id>
<title>${escapeXml(title)}</title>
<link href="${escapeXml(link)}" rel="alternate" type="text/html"/>
<published>${publishedAt}</published>
<updated>${updatedAt}</updated>
<content type="html">${escapeXml(html)}</content>
</entry>
`
