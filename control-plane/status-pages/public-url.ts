import type { StoredPage } from './records.ts'
import type { ImageKind } from './types.ts'

type Addressed = Pick<StoredPage, 'slug' | 'customDomain' | 'customDomainVerifiedAt'>

/** Where a page stands, without a slash at the end: at its own domain once that is verified, else below ours. */
export const publicUrlOf = (page: Addressed, publicUrl: string): string =>
  page.customDomain !== null && page.customDomainVerifiedAt !== null
    ? `https://${page.customDomain}`
    : `${publicUrl}/status/${page.slug}`

/** Where an image of a page stands on whatever origin the page is served; a changed image gets another address. */
export function imagePathOf(page: Pick<StoredPage, 'slug' | 'logo' | 'favicon'>, kind: ImageKind): string | null {
  const image = page[kind]
  return image && `/status/${page.slug}/${kind}?v=${image.id}`
}
