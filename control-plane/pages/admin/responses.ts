import { getComponentStatus } from '../core/component-status.ts'
import { buildImagePath, buildPagePath, buildPublicUrl } from '../core/public-url.ts'
import type { StoredComponent, StoredGroup, StoredPage } from '../core/records.ts'
import type { ImageKind } from '../core/types.ts'

/** A page in responses. */
export function toPageResponse(page: StoredPage, publicUrl: string) {
  return {
    id: page.id,
    name: page.name,
    slug: page.slug,
    template: page.template,
    brand_color: page.brandColor,
    logo_url: getImageUrl(page, 'logo', publicUrl),
    favicon_url: getImageUrl(page, 'favicon', publicUrl),
    logo_problem: page.logo?.problem ?? null,
    favicon_problem: page.favicon?.problem ?? null,
    custom_css: page.customCss,
    seo_title: page.seoTitle,
    seo_description: page.seoDescription,
    is_published: page.isPublished,
    show_response_times: page.showResponseTimes,
    show_uptime_percentage: page.showUptimePercentage,
    custom_domain: page.customDomain,
    custom_domain_verified_at: page.customDomainVerifiedAt,
    component_count: page.componentCount,
    public_url: buildPublicUrl(page, publicUrl),
    created_at: page.createdAt,
    updated_at: page.updatedAt,
  }
}

/** The address from which an image is fetched; for an upload, its own address. */
export function getImageUrl(page: StoredPage, kind: ImageKind, publicUrl: string): string | null {
  const source = page[kind]?.sourceUrl
  if (source) return source
  const path = buildImagePath(page, kind, buildPagePath(page))
  return path && `${publicUrl}${path}`
}

/** A component in responses. */
export function toComponentResponse(component: StoredComponent) {
  return {
    id: component.id,
    status_page_id: component.pageId,
    name: component.name,
    description: component.description,
    monitor_id: component.monitor?.id ?? null,
    group_id: component.groupId,
    display_order: component.displayOrder,
    status: getComponentStatus(component),
    created_at: component.createdAt,
    updated_at: component.updatedAt,
  }
}

/** A group in responses. */
export function toGroupResponse(group: StoredGroup) {
  return {
    id: group.id,
    status_page_id: group.pageId,
    name: group.name,
    description: group.description,
    display_order: group.displayOrder,
    is_collapsed: group.isCollapsed,
    created_at: group.createdAt,
    updated_at: group.updatedAt,
  }
}
