import { parseRssFeed } from 'feedsmith'
import { extractIncidents, type VendorFeedEntry } from './feed-entries.ts'
import { assertSafeXml } from './parsing.ts'
import { FeedError, type FeedReport } from './report.ts'

/** Parses a feed in RSS 2.0 or an earlier version. Throws a FeedError. */
export function parseRss(text: string, now: Date): FeedReport {
  return { status: 'unknown', incidents: extractIncidents(read(text).map(toEntry), now), components: [] }
}

function read(document: string) {
  const text = assertSafeXml(document)
  try {
    return parseRssFeed(text).items ?? []
  } catch {
    throw new FeedError(
      /<feed[\s>]/.test(text.slice(0, 2_000)) ? 'the feed is Atom, not RSS' : 'the response is not an RSS feed',
    )
  }
}

const toEntry = (item: ReturnType<typeof read>[number]): VendorFeedEntry => ({
  // the link is not a substitute, because some feeds have the same link in all items
  id: item.guid?.value ?? null,
  title: item.title ?? '',
  content: item.content?.encoded ?? item.description ?? '',
  url: item.link ?? null,
  publishedAt: item.pubDate ?? item.dc?.dates?.[0] ?? null,
  updatedAt: null,
  categories: (item.categories ?? []).flatMap(({ name }) => name ?? []),
})
