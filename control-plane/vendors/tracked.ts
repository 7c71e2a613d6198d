import type { CheckLiteral } from '../channels/types.ts'
import { webUrlProblem } from '../channels/web-url.ts'
import type { Detail } from '../web/errors.ts'
import { type CatalogEntry, summaryOf } from './catalog.ts'
import type { DependencyCreate, DependencyUpdate } from './schema.ts'
import type { Dependency } from './types.ts'

/** What people choose of a dependency. */
export type Tracked = Pick<
  Dependency,
  'slug' | 'name' | 'category' | 'statusUrl' | 'feedUrl' | 'feedType' | 'feedMapping' | 'components'
>

export type Accepted = { tracked: Tracked; problems: Detail[] }

const ADDRESS_FIELDS = ['status_url', 'feed_type', 'feed_url', 'feed_mapping'] as const

/** A dependency on an entry of the catalogue; the body may rename it, and name components. */
export function trackedOfEntry(entry: CatalogEntry, body: DependencyCreate): Accepted {
  const { slug, statusUrl, feedType, feedUrl, feedMapping } = entry
  const { name = entry.name, category = entry.category, components = [] } = body
  const problems = ADDRESS_FIELDS.filter(field => body[field] !== undefined).map(field => ({
    path: field,
    message: `${field} comes with the slug; leave out one of them`,
  }))
  return { tracked: { slug, name, category, statusUrl, feedType, feedUrl, feedMapping, components }, problems }
}

/** A dependency with an address of the project's own. */
export function trackedOfBody(body: DependencyCreate, checkLiteral: CheckLiteral): Accepted {
  const required = (['name', 'status_url', 'feed_type'] as const).filter(field => body[field] === undefined)
  if (required.length > 0) {
    const missing = { name: '', category: '', statusUrl: '', feedUrl: '', feedType: 'statuspage' as const }
    const message = (field: string) => `${field} is required without a slug of the catalogue`
    return {
      tracked: { ...missing, slug: null, feedMapping: {}, components: [] },
      problems: required.map(field => ({ path: field, message: message(field) })),
    }
  }
  const { name = '', category = 'other', status_url: statusUrl = '', feed_type: feedType = 'statuspage' } = body
  const feedUrl = body.feed_url ?? feedUrlOf(statusUrl, feedType)
  const tracked = {
    ...{ slug: null, name, category, statusUrl, feedType, feedUrl },
    ...{ feedMapping: body.feed_mapping ?? {}, components: body.components ?? [] },
  }
  return { tracked, problems: addressProblems(tracked, checkLiteral) }
}

/**
 * What a change makes of a dependency: what is not named stays. With an address of the project's own it leaves the
 * catalogue; a new status page or type brings its feed along, unless that is named too.
 */
export function trackedAfter(before: Dependency, body: DependencyUpdate, checkLiteral: CheckLiteral): Accepted {
  const { name = before.name, category = before.category, components = before.components } = body
  const isOwn = ADDRESS_FIELDS.some(field => body[field] !== undefined)
  const { status_url: statusUrl = before.statusUrl, feed_type: feedType = before.feedType } = body
  const { feed_mapping: feedMapping = before.feedMapping } = body
  const isMoved = body.status_url !== undefined || body.feed_type !== undefined
  const feedUrl = body.feed_url ?? (isMoved ? feedUrlOf(statusUrl, feedType) : before.feedUrl)
  const tracked = {
    ...{ slug: isOwn ? null : before.slug, name, category, components },
    ...{ statusUrl, feedType, feedUrl, feedMapping },
  }
  return { tracked, problems: isOwn ? addressProblems(tracked, checkLiteral) : [] }
}

const feedUrlOf = (statusUrl: string, feedType: Tracked['feedType']): string =>
  feedType === 'statuspage' ? summaryOf(statusUrl) : statusUrl

function addressProblems({ statusUrl, feedUrl, feedType, feedMapping }: Tracked, checkLiteral: CheckLiteral): Detail[] {
  const problemOf = (path: string, url: string): Detail[] => {
    const message = webUrlProblem(url, checkLiteral, path)
    return message === null ? [] : [{ path, message }]
  }
  const ofPage = problemOf('status_url', statusUrl)
  if (ofPage.length > 0) return ofPage
  const isNeedless = feedType !== 'json' && Object.keys(feedMapping).length > 0
  const message = 'feed_mapping is for the feed type json'
  return [...problemOf('feed_url', feedUrl), ...(isNeedless ? [{ path: 'feed_mapping', message }] : [])]
}
