import { escapeXml } from '../../web/markup.ts'
import type { PageView } from '../types.ts'
import { changedAt } from './changed-at.ts'
import { type Entry, entriesOf } from './entries.ts'

/** What happened on a page as Atom (RFC 4287). */
export function atomOf(view: PageView): string {
  const { id, name, publicUrl } = view
  return `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
<id>urn:uuid:${escapeXml(id)}</id>
<title>${escapeXml(name)}</title>
<updated>${changedAt(view)}</updated>
<author><name>${escapeXml(name)}</name></author>
<link href="${escapeXml(`${publicUrl}/feed.atom`)}" rel="self" type="application/atom+xml"/>
<link href="${escapeXml(publicUrl)}" rel="alternate" type="text/html"/>
${entriesOf(view).map(entryOf).join('')}</feed>
`
}

const entryOf = ({ id, title, link, html, publishedAt, updatedAt }: Entry) => `<entry>
<id>${escapeXml(id)}</id>
<title>${escapeXml(title)}</title>
<link href="${escapeXml(link)}" rel="alternate" type="text/html"/>
<published>${publishedAt}</published>
<updated>${updatedAt}</updated>
<content type="html">${escapeXml(html)}</content>
</entry>
`
