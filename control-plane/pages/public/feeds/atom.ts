import { generateAtomFeed } from 'feedsmith'
import type { PageView } from '../../core/types.ts'
import { findLastChange } from './changed-at.ts'
import { buildFeedEntries } from './entries.tsx'
import { joinCdata, toFeedText } from './feed-text.ts'

/** Incidents and maintenance of a page as Atom (RFC 4287). */
export function renderAtom(view: PageView): string {
  const { id, publicUrl } = view
  const name = toFeedText(view.name)
  return joinCdata(
    generateAtomFeed({
      xml: { lang: 'en' },
      id: `urn:uuid:${id}`,
      title: { value: name },
      updated: findLastChange(view),
      authors: [{ name }],
      links: [
        { href: `${publicUrl}/feed.atom`, rel: 'self', type: 'application/atom+xml' },
        { href: publicUrl, rel: 'alternate', type: 'text/html' },
      ],
      entries: buildFeedEntries(view).map(({ id, title, link, html, publishedAt, updatedAt }) => ({
        id,
        title: { value: toFeedText(title) },
        links: [{ href: link, rel: 'alternate', type: 'text/html' }],
        published: publishedAt,
        updated: updatedAt,
        content: { type: 'html', value: toFeedText(html) },
      })),
    }),
  )
}
