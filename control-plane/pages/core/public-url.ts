import { buildPageUrl } from '../../alerting/events/page-url.ts'
import type { StoredPage } from './records.ts'
import type { ImageKind } from './types.ts'

type AddressedPage = Pick<StoredPage, 'slug' | 'customDomain' | 'customDomainVerifiedAt'>

/** The address of a page without a trailing slash: its custom domain once verified, else a path below `origin`. */
export function buildPublicUrl(page: AddressedPage, origin: string): string {
  const { slug, customDomain, customDomainVerifiedAt } = page
  return buildPageUrl({ slug, domain: customDomainVerifiedAt && customDomain }, origin)
}

/** The path of a page on the installation's own origin. On its custom domain, a page is at the root. */
export const buildPagePath = ({ slug }: Pick<StoredPage, 'slug'>): string => `/status/${slug}`

/**
 * The path of a page's image below the path of the page, which is empty on a custom domain. A changed image has a new path.
 * Null without an image.
 */
export function buildImagePath(
  page: Pick<StoredPage, 'logo' | 'favicon'>,
  kind: ImageKind,
  pagePath: string,
): string | null {
  const image = page[kind]
  return image?.isHere ? `${pagePath}/${kind}?v=${image.id}` : null
}
