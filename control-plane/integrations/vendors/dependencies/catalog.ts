import { buildSummaryUrl } from '../feeds/feed-url.ts'
import type { FeedType } from '../feeds/index.ts'
import type { JsonMapping } from '../feeds/json.ts'
import vendors from './catalog.json' with { type: 'json' }

/** A vendor of the catalog and its public feed. */
export type CatalogEntry = {
  slug: string
  name: string
  category: string
  /** the status page for people */
  statusUrl: string
  feedType: FeedType
  feedUrl: string
  /** for the feed type json */
  feedMapping: JsonMapping
}

type CatalogRow = {
  slug: string
  name: string
  category: string
  status_url: string
  feed_type?: string
  feed_url?: string
}

/** All vendors, sorted by name. A row without a feed has a Statuspage at its `status_url`. */
export const CATALOG: CatalogEntry[] = (vendors as (CatalogRow & { feed_mapping?: JsonMapping })[])
  .map(({ slug, name, category, status_url: statusUrl, feed_type, feed_url, feed_mapping = {} }) => ({
    slug,
    name,
    category,
    statusUrl,
    feedType: (feed_type ?? 'statuspage') as FeedType,
    feedUrl: feed_url ?? buildSummaryUrl(statusUrl),
    feedMapping: feed_mapping,
  }))
  .sort((a, b) => a.name.localeCompare(b.name, 'en'))

export const findCatalogEntry = (slug: string): CatalogEntry | null =>
  CATALOG.find(entry => entry.slug === slug) ?? null

/** Returns the entries of a category whose names contain a text; both are optional. */
export function searchCatalog({ category, q = '' }: { category?: string; q?: string }): CatalogEntry[] {
  const text = q.toLowerCase()
  return CATALOG.filter(
    entry => (category === undefined || entry.category === category) && entry.name.toLowerCase().includes(text),
  )
}
