import { createHash } from 'node:crypto'
import { parseAtom } from './atom.ts'
import { type JsonMapping, parseJsonFeed } from './json.ts'
import { type FeedReport, normalizeReport } from './report.ts'
import { parseRss } from './rss.ts'
import { parseStatuspage } from './statuspage.ts'

export const FEED_TYPES = ['statuspage', 'rss', 'atom', 'json'] as const
export type FeedType = (typeof FEED_TYPES)[number]

/** A public feed of a vendor. `mapping` counts for the type json. */
export type VendorFeed = { url: string; type: FeedType; mapping: JsonMapping }

/** The same for everybody who follows the same feed, and for nobody else. */
export const computeFeedKey = ({ type, url, mapping }: VendorFeed): string =>
  hashJson([type, url, Object.entries(mapping).sort()])

/** The same for reports that say the same. */
export const computeReportDigest = (report: FeedReport): string => hashJson(report)

const hashJson = (value: object) => createHash('sha256').update(JSON.stringify(value)).digest('base64url')

type FeedParser = (text: string, feed: VendorFeed, now: Date) => FeedReport

const PARSERS: Record<FeedType, FeedParser> = {
  statuspage: parseStatuspage,
  rss: (text, _, now) => parseRss(text, now),
  atom: (text, _, now) => parseAtom(text, now),
  json: (text, { mapping, url }) => parseJsonFeed(text, mapping, url),
}

/** What a document of a feed says, within bounds. Throws a FeedError when it is none of that type. */
export const parseFeed = (text: string, feed: VendorFeed, now: Date): FeedReport =>
  normalizeReport(PARSERS[feed.type](text, feed, now), now)

/**
 * How many reads in a row an incident has to be missing before it counts as closed. A Statuspage lists all that is open,
 * and only caches disagree about it; other feeds lose entries for a while.
 */
export const MISSING_READS_BEFORE_CLOSE: Record<FeedType, number> = { statuspage: 2, rss: 3, atom: 3, json: 3 }

/** XML costs far more time to read than JSON, and holds everything else up meanwhile. */
export const MAX_FEED_BYTES: Record<FeedType, number> = {
  statuspage: 5 * 1_048_576,
  json: 5 * 1_048_576,
  rss: 2 * 1_048_576,
  atom: 2 * 1_048_576,
}
