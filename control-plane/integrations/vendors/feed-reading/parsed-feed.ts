import { decodeBody } from '../../../../shared/checks/body-text.ts'
import { computeReportDigest, parseFeed, type VendorFeed } from '../feeds/index.ts'
import { FeedError } from '../feeds/report.ts'
import type { FeedRead } from './feed-store.ts'

/** The document of a feed as it arrived, to be parsed at a time. */
export type FeedDocument = {
  feed: VendorFeed
  body: Buffer | null
  headers: Record<string, string> | null
  now: Date
}

/** The report of a document, or why it has none. */
export type ParsedFeed = Pick<FeedRead, 'report' | 'digest'> | { error: string }

export function parseFeedDocument({ feed, body, headers, now }: FeedDocument): ParsedFeed {
  try {
    const report = parseFeed(decodeBody({ body, headers }), feed, now)
    return { report, digest: computeReportDigest(report) }
  } catch (error) {
    if (error instanceof FeedError) return { error: error.message }
    throw error
  }
}
