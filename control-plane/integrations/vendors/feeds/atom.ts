import { parseAtomFeed } from 'feedsmith'
import { extractIncidents, type VendorFeedEntry } from './feed-entries.ts'
import { assertSafeXml } from './parsing.ts'
import { FeedError, type FeedReport } from './report.ts'

/** Parses a feed in Atom 1.0 (RFC 4287). Throws a FeedError. */
export function parseAtom(text: string, now: Date): FeedReport {
  return { status: 'unknown', incidents: extractIncidents(read(text).map(toEntry), now), components: [] }
}

function read(document: string) {
  const text = assertSafeXml(document)
  try {
    return parseAtomFeed(text).entries ?? []
  } catch {
    throw new FeedError(
      /<rss[\s>]/.test(text.slice(0, 2_000)) ? 'the feed is RSS, not Atom' : 'the response is not an Atom feed',
    )
  }
}

const toEntry = (entry: ReturnType<typeof read>[number]): VendorFeedEntry => ({
  id: entry.id ?? null,
  title: entry.title?.value ?? '',
  content: entry.content?.value ?? entry.summary?.value ?? '',
  url: (entry.links?.find(({ rel }) => rel === 'alternate') ?? entry.links?.[0])?.href ?? null,
  publishedAt: entry.published ?? null,
  updatedAt: entry.updated ?? null,
  categories: (entry.categories ?? []).flatMap(({ label, term }) => label ?? term ?? []),
})
