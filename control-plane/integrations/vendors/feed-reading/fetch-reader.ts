import { decodeBody } from '../../../../shared/checks/body-text.ts'
import type { HttpResponse } from '../../../../shared/egress/index.ts'
import type { Egress } from '../../../../shared/egress/types.ts'
import { httpGet } from '../../../foundation/platform/network/http-client.ts'
import { MAX_SILENT_ENTRY_AGE_MS } from '../feeds/feed-entries.ts'
import { computeReportDigest, MAX_FEED_BYTES, parseFeed } from '../feeds/index.ts'
import { FeedError, isOpen, type ReportedIncident } from '../feeds/report.ts'
import type { FeedRead, StoredFeed } from './feed-store.ts'

/** A fetched feed. When it has not changed, the report is the stored one. */
type FetchedFeed = Pick<FeedRead, 'report' | 'digest' | 'etag' | 'lastModified'>
/** Why a feed could not be read. It does not mean that the vendor has an outage. */
type FeedFetchFailure = { error: string }

const ACCEPT = {
  statuspage: 'application/json',
  json: 'application/json',
  rss: 'application/rss+xml, application/xml, text/xml',
  atom: 'application/atom+xml, application/xml, text/xml',
}

/** A feed, and what was read of it last. */
type KnownFeed = Pick<StoredFeed, 'url' | 'type' | 'mapping' | 'report' | 'digest' | 'etag' | 'lastModified'>

/** Fetches a feed through the egress guard, if it has changed. Never rejects because of the server. */
export async function fetchFeed(
  feed: KnownFeed,
  egress: Egress,
  timeoutMs: number,
  now: () => Date,
): Promise<FetchedFeed | FeedFetchFailure> {
  const limits = { timeoutMs, maxAnswerBytes: MAX_FEED_BYTES[feed.type] }
  const answer = await httpGet(feed.url, buildHeaders(feed, now()), limits, egress)
  if (answer.error) return { error: answer.error.message }
  const { report, digest, etag, lastModified } = feed
  if (answer.statusCode === 304 && report !== null && digest !== null) return { report, digest, etag, lastModified }
  if (answer.statusCode !== 200) return { error: `the feed responded with status ${answer.statusCode}` }
  if (answer.truncated) return { error: `the feed is larger than ${limits.maxAnswerBytes / 1_048_576} MiB` }
  return parseAnswer(feed, answer, now())
}

function buildHeaders({ type, report, etag, lastModified }: KnownFeed, now: Date): Record<string, string> {
  const headers = { Accept: `${ACCEPT[type]}, */*;q=0.1`, 'Accept-Encoding': 'gzip' }
  const isAgeing =
    (type === 'rss' || type === 'atom') && report?.incidents.some(incident => mayHaveEnded(incident, now))
  if (report === null || isAgeing) return headers
  return {
    ...headers,
    ...(etag !== null && { 'If-None-Match': etag }),
    ...(lastModified !== null && { 'If-Modified-Since': lastModified }),
  }
}

/** An open entry can end by its age, without a change of the document. */
const mayHaveEnded = (incident: ReportedIncident, now: Date): boolean =>
  isOpen(incident) &&
  (incident.updated_at === null || now.getTime() - Date.parse(incident.updated_at) > MAX_SILENT_ENTRY_AGE_MS)

function parseAnswer(feed: KnownFeed, answer: HttpResponse, now: Date): FetchedFeed | FeedFetchFailure {
  try {
    const report = parseFeed(decodeBody(answer), feed, now)
    const digest = computeReportDigest(report)
    return { report, digest, etag: getValidator(answer, 'etag'), lastModified: getValidator(answer, 'last-modified') }
  } catch (error) {
    if (error instanceof FeedError) return { error: error.message }
    throw error
  }
}

/** Returns a validator that can be stored and sent back, or null. */
function getValidator({ headers }: HttpResponse, name: string): string | null {
  const value = headers?.[name] ?? ''
  return /^[\x20-\x7e]{1,200}$/.test(value) ? value : null
}
