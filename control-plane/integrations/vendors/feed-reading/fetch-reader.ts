import type { HttpResponse } from '../../../../shared/egress/index.ts'
import type { Egress } from '../../../../shared/egress/types.ts'
import { httpGet } from '../../../foundation/platform/network/http-client.ts'
import type { OwnFaultDetector } from '../../../foundation/platform/network/own-faults.ts'
import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import { MAX_CONCURRENT_TESTS } from '../../../foundation/web/test-limit.ts'
import { MAX_SILENT_ENTRY_AGE_MS } from '../feeds/feed-entries.ts'
import { MAX_FEED_BYTES } from '../feeds/index.ts'
import { isOpen, type ReportedIncident } from '../feeds/report.ts'
import type { FeedRead, StoredFeed } from './feed-store.ts'
import { createFeedParser, type FeedFailure } from './parse-reader.ts'

/** A fetched feed. When it has not changed, the report is the stored one. */
type FetchedFeed = Pick<FeedRead, 'report' | 'digest' | 'etag' | 'lastModified'>

const ACCEPT = {
  statuspage: 'application/json',
  json: 'application/json',
  rss: 'application/rss+xml, application/xml, text/xml',
  atom: 'application/atom+xml, application/xml, text/xml',
}

/** A feed, and what was read of it last. */
type KnownFeed = Pick<StoredFeed, 'url' | 'type' | 'mapping' | 'report' | 'digest' | 'etag' | 'lastModified'>

/** How many feeds a process reads at the same time. */
export const MAX_CONCURRENT_FEEDS = 16

/** Separate threads, so that tests do not delay feeds that are due. */
const PARSERS = {
  test: createFeedParser({ maxWaiting: MAX_CONCURRENT_TESTS }),
  // all feeds that are read at the same time may be of one project
  worker: createFeedParser({ maxWaiting: MAX_CONCURRENT_FEEDS }),
}

/** Who parses a feed. `getKey`: large documents with the same key wait for each other. */
type FeedTurn = { caller: keyof typeof PARSERS; getKey: () => string | Promise<string> }

/** Fetches a feed through the egress guard, if it has changed. Never rejects because of the server. */
export async function fetchFeed(
  feed: KnownFeed,
  { egress, ownFaults }: { egress: Egress; ownFaults?: OwnFaultDetector },
  timeoutMs: number,
  now: () => Date,
  turn: FeedTurn,
): Promise<FetchedFeed | FeedFailure> {
  const limits = { timeoutMs, maxAnswerBytes: MAX_FEED_BYTES[feed.type] }
  const answer = await httpGet(feed.url, buildHeaders(feed, now()), limits, egress)
  const ownFault = ownFaults?.inspect(new URL(feed.url).hostname, answer, monotonicMs()) ?? null
  if (answer.error && ownFault !== null)
    return { error: `Picket could not fetch the feed: ${answer.error.message}`, isOurFault: true }
  if (answer.error) return buildFailure(answer.error.message)
  const { report, digest, etag, lastModified } = feed
  if (answer.statusCode === 304 && report !== null && digest !== null) return { report, digest, etag, lastModified }
  if (answer.statusCode !== 200) return buildFailure(`the feed responded with status ${answer.statusCode}`)
  if (answer.truncated) return buildFailure(`the feed is larger than ${limits.maxAnswerBytes / 1_048_576} MiB`)
  return parseAnswer(feed, answer, now(), turn)
}

const buildFailure = (error: string): FeedFailure => ({ error, isOurFault: false })

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

async function parseAnswer(
  { url, type, mapping }: KnownFeed,
  answer: HttpResponse,
  now: Date,
  { caller, getKey }: FeedTurn,
): Promise<FetchedFeed | FeedFailure> {
  const document = { feed: { url, type, mapping }, body: answer.body, headers: answer.headers, now }
  const parsed = await PARSERS[caller](document, getKey)
  if ('error' in parsed) return parsed
  return { ...parsed, etag: getValidator(answer, 'etag'), lastModified: getValidator(answer, 'last-modified') }
}

/** Returns a validator that can be stored and sent back, or null. */
function getValidator({ headers }: HttpResponse, name: string): string | null {
  const value = headers?.[name] ?? ''
  return /^[\x20-\x7e]{1,200}$/.test(value) ? value : null
}
