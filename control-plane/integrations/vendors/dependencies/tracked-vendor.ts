import { findUrlProblem } from '../../../alerting/channels/config/url-validation.ts'
import type { CheckLiteral } from '../../../alerting/channels/types.ts'
import type { ErrorDetail } from '../../../foundation/web/server/errors.ts'
import { buildFeedUrl } from '../feeds/feed-url.ts'
import type { Dependency } from '../types.ts'
import type { CatalogEntry } from './catalog.ts'
import type { DependencyCreate, DependencyUpdate } from './schema.ts'

/** The settings of a dependency. */
export type TrackedVendor = Pick<
  Dependency,
  'slug' | 'name' | 'category' | 'statusUrl' | 'feedUrl' | 'feedType' | 'feedMapping' | 'components'
>

export type TrackedVendorDraft = { tracked: TrackedVendor; problems: ErrorDetail[] }

const ADDRESS_FIELDS = ['status_url', 'feed_type', 'feed_url', 'feed_mapping'] as const

/** Builds a dependency on an entry of the catalog. The body may change its name, category and components. */
export function trackCatalogEntry(entry: CatalogEntry, body: DependencyCreate): TrackedVendorDraft {
  const { slug, statusUrl, feedType, feedUrl, feedMapping } = entry
  const { name = entry.name, category = entry.category, components = [] } = body
  const problems = ADDRESS_FIELDS.filter(field => body[field] !== undefined).map(field => ({
    path: field,
    message: `${field} cannot be combined with slug`,
  }))
  return { tracked: { slug, name, category, statusUrl, feedType, feedUrl, feedMapping, components }, problems }
}

/** Builds a dependency with an address of its own. */
export function trackOwnAddress(body: DependencyCreate, checkLiteral: CheckLiteral): TrackedVendorDraft {
  const required = (['name', 'status_url', 'feed_type'] as const).filter(field => body[field] === undefined)
  if (required.length > 0) {
    const missing = { name: '', category: '', statusUrl: '', feedUrl: '', feedType: 'statuspage' as const }
    const message = (field: string) => `${field} is required without slug`
    return {
      tracked: { ...missing, slug: null, feedMapping: {}, components: [] },
      problems: required.map(field => ({ path: field, message: message(field) })),
    }
  }
  const { name = '', category = 'other', status_url: statusUrl = '', feed_type: feedType = 'statuspage' } = body
  const feedUrl = body.feed_url ?? buildFeedUrl(statusUrl, feedType)
  const tracked = {
    ...{ slug: null, name, category, statusUrl, feedType, feedUrl },
    ...{ feedMapping: body.feed_mapping ?? {}, components: body.components ?? [] },
  }
  return { tracked, problems: findAddressProblems(tracked, checkLiteral) }
}

/**
 * Applies an update to a dependency. Omitted properties keep their values. A new address removes the slug of the catalog.
 * A new status page or type changes the address of the feed as well, unless the body has one.
 */
export function applyDependencyUpdate(
  before: Dependency,
  body: DependencyUpdate,
  checkLiteral: CheckLiteral,
): TrackedVendorDraft {
  const { name = before.name, category = before.category, components = before.components } = body
  const isOwn = ADDRESS_FIELDS.some(field => body[field] !== undefined)
  const { status_url: statusUrl = before.statusUrl, feed_type: feedType = before.feedType } = body
  const { feed_mapping: feedMapping = before.feedMapping } = body
  const isMoved = body.status_url !== undefined || body.feed_type !== undefined
  const feedUrl = body.feed_url ?? (isMoved ? buildFeedUrl(statusUrl, feedType) : before.feedUrl)
  const tracked = {
    ...{ slug: isOwn ? null : before.slug, name, category, components },
    ...{ statusUrl, feedType, feedUrl, feedMapping },
  }
  return { tracked, problems: isOwn ? findAddressProblems(tracked, checkLiteral) : [] }
}

function findAddressProblems(
  { statusUrl, feedUrl, feedType, feedMapping }: TrackedVendor,
  checkLiteral: CheckLiteral,
): ErrorDetail[] {
  const findProblems = (path: string, url: string): ErrorDetail[] => {
    const message = findUrlProblem(url, checkLiteral, path)
    return message === null ? [] : [{ path, message }]
  }
  const ofPage = findProblems('status_url', statusUrl)
  if (ofPage.length > 0) return ofPage
  const isUnused = feedType !== 'json' && Object.keys(feedMapping).length > 0
  const message = 'feed_mapping is accepted only with feed_type json'
  return [...findProblems('feed_url', feedUrl), ...(isUnused ? [{ path: 'feed_mapping', message }] : [])]
}
