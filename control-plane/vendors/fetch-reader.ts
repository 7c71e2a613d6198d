import { bodyText } from '../../shared/body-text.ts'
import type { Egress, HttpAnswer } from '../../shared/egress/index.ts'
import { get } from '../platform/http.ts'
import type { NewRead, StoredFeed } from './feed-store.ts'
import { SILENT_FOR_MS } from './feeds/entries.ts'
import { digestOf, MOST_BYTES, parseFeed } from './feeds/index.ts'
import { FeedError, isOpen, type ReportedIncident } from './feeds/report.ts'

/** Where the server says that nothing has changed, the report is the one that is stored. */
export type Fetched = Pick<NewRead, 'report' | 'digest' | 'etag' | 'lastModified'>
/** Why nothing was found out: never the vendor's outage, whoever's fault it is. */
export type NotFetched = { error: string }

const ACCEPT = {
  statuspage: 'application/json',
  json: 'application/json',
  rss: 'application/rss+xml, application/xml, text/xml',
  atom: 'application/atom+xml, application/xml, text/xml',
}

/** Reads a feed through the egress guard, if it has changed. Never rejects for what the server does. */
export async function fetchFeed(
  feed: StoredFeed,
  egress: Egress,
  timeoutMs: number,
  now: () => Date,
): Promise<Fetched | NotFetched> {
  const limits = { timeoutMs, maxAnswerBytes: MOST_BYTES[feed.type] }
  const answer = await get(feed.url, headersOf(feed, now()), limits, egress)
  if (answer.error) return { error: answer.error.message }
  const { report, digest, etag, lastModified } = feed
  if (answer.statusCode === 304 && report !== null && digest !== null) return { report, digest, etag, lastModified }
  if (answer.statusCode !== 200) return { error: `the feed answers with status ${answer.statusCode}` }
  if (answer.truncated) return { error: `the feed is longer than ${limits.maxAnswerBytes / 1_048_576} MiB` }
  return read(feed, answer, now())
}

function headersOf({ type, report, etag, lastModified }: StoredFeed, now: Date): Record<string, string> {
  const headers = { Accept: `${ACCEPT[type]}, */*;q=0.1`, 'Accept-Encoding': 'gzip' }
  const isAgeing = (type === 'rss' || type === 'atom') && report?.incidents.some(incident => mayBeOver(incident, now))
  if (report === null || isAgeing) return headers
  return {
    ...headers,
    ...(etag !== null && { 'If-None-Match': etag }),
    ...(lastModified !== null && { 'If-Modified-Since': lastModified }),
  }
}

/** An entry grows old, which its document does not say. */
const mayBeOver = (incident: ReportedIncident, now: Date): boolean =>
  isOpen(incident) && (incident.updated_at === null || now.getTime() - Date.parse(incident.updated_at) > SILENT_FOR_MS)

function read(feed: StoredFeed, answer: HttpAnswer, now: Date): Fetched | NotFetched {
  try {
    const report = parseFeed(bodyText(answer), feed, now)
    const digest = digestOf(report)
    return { report, digest, etag: validator(answer, 'etag'), lastModified: validator(answer, 'last-modified') }
  } catch (error) {
    if (error instanceof FeedError) return { error: error.message }
    throw error
  }
}

/** Kept to be sent back, so within bounds and as it can be sent. */
function validator({ headers }: HttpAnswer, name: string): string | null {
  const value = headers?.[name] ?? ''
  return /^[\x20-\x7e]{1,200}$/.test(value) ? value : null
}
