import { type StoredOverride, toOverrideResponse } from '../../../alerting/routing/rules/dependency-override.ts'
import type { VendorSeverity, VendorStatus } from '../feeds/report.ts'
import { toImpactLevel } from '../incidents/report-changes.ts'
import type { Dependency, VendorIncident } from '../types.ts'
import type { CatalogEntry } from './catalog.ts'

/** A dependency with the state of its feed. */
export type DependencyWithFeed = Dependency & {
  /** severities of its open incidents */
  severities: VendorSeverity[]
  /** overall status of the vendor; null: the feed was never read */
  vendorStatus: VendorStatus | null
  readAt: Date | null
  /** consecutive failed reads */
  failures: number
  lastError: string | null
}

/** Consecutive failed reads after which the status is unknown. */
const FAILURES_BEFORE_UNKNOWN = 3

/** Computes the status of a dependency. The overall status of the vendor counts only without named components. */
export function computeDependencyStatus(dependency: DependencyWithFeed): VendorStatus {
  const { severities, vendorStatus, failures, components } = dependency
  if (vendorStatus === null || failures >= FAILURES_BEFORE_UNKNOWN) return 'unknown'
  const levels: string[] = [...severities.map(toImpactLevel), components.length === 0 ? vendorStatus : 'operational']
  return (['down', 'degraded'] as const).find(level => levels.includes(level)) ?? 'operational'
}

export const toDependencyResponse = (dependency: DependencyWithFeed, overrides: StoredOverride[]) => ({
  id: dependency.id,
  slug: dependency.slug,
  name: dependency.name,
  category: dependency.category,
  status_url: dependency.statusUrl,
  feed_type: dependency.feedType,
  feed_url: dependency.feedUrl,
  feed_mapping: dependency.feedMapping as Record<string, string>,
  components: dependency.components,
  overrides: overrides.filter(({ dependencyId }) => dependencyId === dependency.id).map(toOverrideResponse),
  status: computeDependencyStatus(dependency),
  open_incidents: dependency.severities.length,
  last_checked_at: dependency.readAt?.toISOString() ?? null,
  last_error: dependency.lastError,
  created_at: dependency.createdAt.toISOString(),
  updated_at: dependency.updatedAt.toISOString(),
})

export const toVendorIncidentResponse = (incident: VendorIncident) => ({
  id: incident.id,
  dependency_id: incident.dependencyId,
  title: incident.title,
  severity: incident.severity,
  status: incident.status,
  components: incident.components,
  source_url: incident.sourceUrl,
  started_at: incident.startedAt.toISOString(),
  resolved_at: incident.resolvedAt?.toISOString() ?? null,
  created_at: incident.createdAt.toISOString(),
  updated_at: incident.updatedAt.toISOString(),
})

/** `dependencyId`: the dependency that tracks the vendor. */
export const toCatalogEntryResponse = (
  { slug, name, category, statusUrl, feedType, feedUrl }: CatalogEntry,
  dependencyId: string | null,
) => ({
  slug,
  name,
  category,
  status_url: statusUrl,
  feed_type: feedType,
  feed_url: feedUrl,
  dependency_id: dependencyId,
})
