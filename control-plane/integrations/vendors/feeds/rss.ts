import { parseRssFeed } from 'feedsmith'
import { extractIncidents, type VendorFeedEntry } from './feed-entries.ts'
import { assertSafeXml } from './parsing.ts'
import { FeedError, type FeedReport } from './report.ts'

/** A feed in RSS 2.0 or one of its forerunners. Throws a FeedError. */
export function parseRss(text: string, now: Date): FeedReport {
  return { status: 'unknown', incidents: extractIncidents(read(text).map(toEntry), now), components: [] }
}

function read(document: string) {
  const text = assertSafeXml(document)
  try {
    return parseRssFeed(text).items ?? []
  } catch {
    throw new FeedError(/<feed[\s>]/.test(text.slice(0, 2_000)) ? 'this is Atom, not RSS' : 'what came is no RSS feed')
  }
}

const toEntry = (item: ReturnType<typeof read>[number]): VendorFeedEntry => ({
  // no link in its place: some have the same one everywhere
  id: item.guid?.value ?? null,
  title: item.title ?? '',
  content: item.content?.encoded ?? item.description ?? '',
  url: item.link ?? null,
  publishedAt: item.pubDate ?? null,
  updatedAt: null,
  categories: (item.categories ?? []).flatMap(({ name }) => name ?? []),
})
