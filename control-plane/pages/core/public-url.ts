import { buildPageUrl } from '../../alerting/events/page-url.ts'
import type { StoredPage } from './records.ts'
import type { ImageKind } from './types.ts'

type AddressedPage = Pick<StoredPage, 'slug' | 'customDomain' | 'customDomainVerifiedAt'>

/** The address of a page without a trailing slash: its custom domain once verified, else a path below `origin`. */
export function buildPublicUrl(page: AddressedPage, origin: string): string {
  const { slug, customDomain, customDomainVerifiedAt } = page
  return buildPageUrl({ slug, domain: customDomainVerifiedAt && customDomain }, origin)
}

/**
 * The path of a page's image on every origin that serves the page. A changed image has a new path. Null without an
 * image.
 */
export function buildImagePath(page: Pick<StoredPage, 'slug' | 'logo' | 'favicon'>, kind: ImageKind): string | null {
  const image = page[kind]
  return image?.isHere ? `/status/${page.slug}/${kind}?v=${image.id}` : null
}
