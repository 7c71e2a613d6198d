import type { Egress } from '../../../../shared/egress/types.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { notFound, validationError } from '../../../foundation/web/server/errors.ts'
import { fetchFeed } from '../feed-reading/fetch-reader.ts'
import { isOpen } from '../feeds/report.ts'
import { findCatalogEntry } from './catalog.ts'
import type { FeedTest } from './schema.ts'
import { trackCatalogEntry, trackOwnAddress } from './tracked-vendor.ts'

const TIMEOUT_MS = 10_000
const MAX_INCIDENTS = 20

/**
 * Reads once the feed that a create with this body would track, and stores nothing. A feed that cannot be read is a result, not
 * an error. Throws 400 for addresses that must not be requested, and 404 for an unknown slug.
 */
export async function testFeed(egress: Egress, projectId: string, body: FeedTest) {
  const { tracked, problems } = trackFeed(egress, body)
  if (problems.length > 0) throw validationError(problems)
  const feed = { url: tracked.feedUrl, type: tracked.feedType, mapping: tracked.feedMapping }
  const read = await fetchFeed({ ...feed, ...NEVER_READ }, { egress }, TIMEOUT_MS, now, {
    caller: 'test',
    getKey: () => projectId,
  })
  const report = 'error' in read ? null : read.report
  return {
    feed_url: tracked.feedUrl,
    error: 'error' in read ? read.error : null,
    status: report?.status ?? null,
    incidents: (report?.incidents ?? [])
      .slice(0, MAX_INCIDENTS)
      .map(({ title, severity, status, components, started_at }) => ({
        title,
        severity,
        status,
        components,
        started_at,
      })),
    open_incidents: report?.incidents.filter(isOpen).length ?? 0,
    components: report?.components.map(({ name }) => name) ?? [],
  }
}

const NEVER_READ = { report: null, digest: null, etag: null, lastModified: null }

function trackFeed({ checkLiteral }: Egress, body: FeedTest) {
  // an address is tested before it has a name
  if (body.slug === undefined) return trackOwnAddress({ ...body, name: body.name ?? 'test' }, checkLiteral)
  const entry = findCatalogEntry(body.slug)
  if (entry === null) throw notFound('catalog vendor')
  return trackCatalogEntry(entry, body)
}
