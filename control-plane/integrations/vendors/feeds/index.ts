import { createHash } from 'node:crypto'
import { parseAtom } from './atom.ts'
import { type JsonMapping, parseJsonFeed } from './json.ts'
import { type FeedReport, normalizeReport } from './report.ts'
import { parseRss } from './rss.ts'
import { parseStatuspage } from './statuspage.ts'

export const FEED_TYPES = ['statuspage', 'rss', 'atom', 'json'] as const
export type FeedType = (typeof FEED_TYPES)[number]

/** A public feed of a vendor. `mapping` is used by the type json. */
export type VendorFeed = { url: string; type: FeedType; mapping: JsonMapping }

/** Computes the key under which all dependencies share a feed. */
export const computeFeedKey = ({ type, url, mapping }: VendorFeed): string =>
  hashJson([type, url, Object.entries(mapping).sort()])

/** Computes a digest that is equal for equal reports. */
export const computeReportDigest = (report: FeedReport): string => hashJson(report)

const hashJson = (value: object) => createHash('sha256').update(JSON.stringify(value)).digest('base64url')

type FeedParser = (text: string, feed: VendorFeed, now: Date) => FeedReport

const PARSERS: Record<FeedType, FeedParser> = {
  statuspage: parseStatuspage,
  rss: (text, _, now) => parseRss(text, now),
  atom: (text, _, now) => parseAtom(text, now),
  json: (text, { mapping, url }) => parseJsonFeed(text, mapping, url),
}

/** Parses a document of a feed within limits. Throws a FeedError when it does not have this type. */
export const parseFeed = (text: string, feed: VendorFeed, now: Date): FeedReport =>
  normalizeReport(PARSERS[feed.type](text, feed, now), now)

/**
 * Consecutive reads without an incident before it is closed. A Statuspage lists all open incidents, except for stale
 * caches; other feeds may omit entries for a while.
 */
export const MISSING_READS_BEFORE_CLOSE: Record<FeedType, number> = { statuspage: 2, rss: 3, atom: 3, json: 3 }

/** Maximum size of a feed. XML takes far longer to parse than JSON, and parsing blocks the event loop. */
export const MAX_FEED_BYTES: Record<FeedType, number> = {
  statuspage: 5 * 1_048_576,
  json: 5 * 1_048_576,
  rss: 2 * 1_048_576,
  atom: 2 * 1_048_576,
}
