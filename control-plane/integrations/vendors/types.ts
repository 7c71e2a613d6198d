import type { FeedType } from './feeds/index.ts'
import type { JsonMapping } from './feeds/json.ts'
import type { VendorIncidentStatus, VendorSeverity } from './feeds/report.ts'

/** A row of `dependencies`: a vendor that a project tracks. */
export type Dependency = {
  id: string
  projectId: string
  feedId: string
  /** slug of the catalog; null: an address of its own */
  slug: string | null
  name: string
  category: string
  /** the status page for people */
  statusUrl: string
  feedUrl: string
  feedType: FeedType
  feedMapping: JsonMapping
  /** empty: everything that the vendor reports */
  components: string[]
  /** false: the incidents of the next report existed before and are not announced */
  isBaselined: boolean
  createdAt: Date
  updatedAt: Date
}

/** The effect of an incident on a dependency. */
export type ImpactLevel = 'none' | 'degraded' | 'down'

/** A row of `vendor_incidents`: an incident of a vendor for one dependency. */
export type VendorIncident = {
  id: string
  projectId: string
  dependencyId: string
  /** id in the feed of the vendor */
  sourceId: string
  title: string
  severity: VendorSeverity
  status: VendorIncidentStatus
  components: string[]
  sourceUrl: string
  startedAt: Date
  resolvedAt: Date | null
  /** the worst level so far; only a worse level is announced */
  worst: ImpactLevel
  /** whether its beginning or its end was announced */
  announced: 'begin' | 'end' | null
  announcedAt: Date | null
  /** consecutive reads without it */
  missing: number
  createdAt: Date
  updatedAt: Date
}
