import type { FeedType } from './feeds/index.ts'
import type { JsonMapping } from './feeds/json.ts'
import type { VendorIncidentStatus, VendorSeverity } from './feeds/report.ts'

/** A row of `dependencies`: a vendor that a project tracks. */
export type Dependency = {
  id: string
  projectId: string
  feedId: string
  /** of the catalogue's entry; null: its address is the project's own */
  slug: string | null
  name: string
  category: string
  /** for people */
  statusUrl: string
  feedUrl: string
  feedType: FeedType
  feedMapping: JsonMapping
  /** none: all that the vendor reports */
  components: string[]
  /** false: what the feed says next was there before, and is told to nobody */
  isBaselined: boolean
  createdAt: Date
  updatedAt: Date
}

/** How bad an incident is for whoever depends on the vendor; `none`: it is not. */
export type ImpactLevel = 'none' | 'degraded' | 'down'

/** A row of `vendor_incidents`: an incident of a vendor as one dependency meets it. */
export type VendorIncident = {
  id: string
  projectId: string
  dependencyId: string
  /** the vendor's own */
  sourceId: string
  title: string
  severity: VendorSeverity
  status: VendorIncidentStatus
  components: string[]
  sourceUrl: string
  startedAt: Date
  resolvedAt: Date | null
  /** the worst that it was: only what is worse than that is news */
  worst: ImpactLevel
  /** whether its beginning was told, and its end */
  told: 'begin' | 'end' | null
  toldAt: Date | null
  /** how many times in a row the feed has left it out */
  missing: number
  createdAt: Date
  updatedAt: Date
}
