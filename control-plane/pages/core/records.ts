import type { ComponentStatus, TemplateName } from './types.ts'

/** A row of `status_pages` with references to its images. */
export type StoredPage = {
  id: string
  projectId: string
  name: string
  slug: string
  template: TemplateName
  brandColor: string
  customCss: string | null
  seoTitle: string | null
  seoDescription: string | null
  isPublished: boolean
  showResponseTimes: boolean
  showUptimePercentage: boolean
  customDomain: string | null
  customDomainVerifiedAt: Date | null
  logo: ImageReference | null
  favicon: ImageReference | null
  componentCount: number
  createdAt: Date
  updatedAt: Date
}

/**
 * `sourceUrl` null: it was uploaded. `isHere` false: it was never fetched. `problem`: why the last fetch failed; the
 * previous image stays.
 */
type ImageReference = { id: string; sourceUrl: string | null; isHere: boolean; problem: string | null }

/** A row of `status_page_groups`. */
export type StoredGroup = {
  id: string
  pageId: string
  name: string
  description: string | null
  displayOrder: number
  isCollapsed: boolean
  createdAt: Date
  updatedAt: Date
}

/**
 * A row of `status_page_components`. `monitor` is also null after the monitor was deleted. `monitorId` stays, because
 * the data source of a deleted monitor may restore it.
 */
export type StoredComponent = {
  id: string
  pageId: string
  groupId: string | null
  name: string
  description: string | null
  monitorId: string | null
  monitor: ComponentMonitor | null
  displayOrder: number
  /** the manual status; `unknown` when there is a monitor */
  status: ComponentStatus
  createdAt: Date
  updatedAt: Date
}

export type ComponentMonitor = {
  id: string
  status: 'up' | 'down' | 'degraded' | null
  isPaused: boolean
  /** ISO 8601; null before the first verdict */
  changedAt: string | null
}
