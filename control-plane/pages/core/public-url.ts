import { buildPageUrl } from '../../alerting/events/page-url.ts'
import type { StoredPage } from './records.ts'
import type { ImageKind } from './types.ts'

type AddressedPage = Pick<StoredPage, 'slug' | 'customDomain' | 'customDomainVerifiedAt'>

/** Where a page stands, without a slash at the end: at its own domain once that is verified, else below ours. */
export function buildPublicUrl(page: AddressedPage, origin: string): string {
  const { slug, customDomain, customDomainVerifiedAt } = page
  return buildPageUrl({ slug, domain: customDomainVerifiedAt && customDomain }, origin)
}

/** Where an image of a page is on each origin that serves the page; a changed image gets another address. Null: there is none (yet). */
export function buildImagePath(page: Pick<StoredPage, 'slug' | 'logo' | 'favicon'>, kind: ImageKind): string | null {
  const image = page[kind]
  return image?.isHere ? `/status/${page.slug}/${kind}?v=${image.id}` : null
}
