import { generateRssFeed } from 'feedsmith'
import type { PageView } from '../../core/types.ts'
import { findLastChange } from './changed-at.ts'
import { buildFeedEntries } from './entries.tsx'
import { joinCdata, toFeedText } from './feed-text.ts'

/** Incidents and maintenance of a page as RSS 2.0. */
export function renderRss(view: PageView): string {
  const { name, publicUrl } = view
  return joinCdata(
    generateRssFeed({
      title: toFeedText(name),
      link: publicUrl,
      description: toFeedText(`Incidents and maintenance of ${name}`),
      language: 'en',
      lastBuildDate: findLastChange(view),
      ttl: 1,
      atom: { links: [{ href: `${publicUrl}/feed.rss`, rel: 'self', type: 'application/rss+xml' }] },
      items: buildFeedEntries(view).map(({ id, title, link, html, publishedAt }) => ({
        title: toFeedText(title),
        link,
        guid: { value: id, isPermaLink: false },
        pubDate: publishedAt,
        description: toFeedText(html),
      })),
    }),
  )
}
