import type { FeedType } from './index.ts'

/** Returns the address of a feed that is not given: the summary of a Statuspage, else the page itself. */
export const buildFeedUrl = (statusUrl: string, feedType: FeedType): string =>
  feedType === 'statuspage' ? buildSummaryUrl(statusUrl) : statusUrl

/** Returns the address of the summary of a Statuspage. An address of a JSON file is returned unchanged. */
export function buildSummaryUrl(statusUrl: string): string {
  if (/\.json($|\?)/.test(statusUrl)) return statusUrl
  return `${statusUrl.replace(/[?#].*$/, '').replace(/\/+$/, '')}/api/v2/summary.json`
}
