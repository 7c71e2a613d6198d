import type { FeedType } from '../feeds/index.ts'
import type { JsonMapping } from '../feeds/json.ts'
import vendors from './catalog.json' with { type: 'json' }

/** Every vendor of the catalogue has one of them. */
export const CATEGORIES = [
  'ai',
  'analytics',
  'auth',
  'cdn',
  'ci',
  'cloud',
  'commerce',
  'communication',
  'crm',
  'data',
  'design',
  'developer',
  'email',
  'hosting',
  'monitoring',
  'payments',
  'productivity',
  'registry',
  'security',
  'social',
  'support',
] as const

/** A well-known vendor and its public feed. */
export type CatalogEntry = {
  slug: string
  name: string
  category: string
  /** for people */
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

/** By name. A row without a feed has a Statuspage at its `status_url`. */
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

/** Entries of a category, if one is given, with a text in their names, if one is. */
export function searchCatalog({ category, q = '' }: { category?: string; q?: string }): CatalogEntry[] {
  const text = q.toLowerCase()
  return CATALOG.filter(
    entry => (category === undefined || entry.category === category) && entry.name.toLowerCase().includes(text),
  )
}

/** Where the Statuspage at an address has its summary; an address that is one stays. */
export function buildSummaryUrl(statusUrl: string): string {
  if (/\.json($|\?)/.test(statusUrl)) return statusUrl
  return `${statusUrl.replace(/[?#].*$/, '').replace(/\/+$/, '')}/api/v2/summary.json`
}
