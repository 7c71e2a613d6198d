/** What the address of a public status page is made of; `domain` is its own one, null unless it is verified. */
export type PageAddress = { slug: string; domain: string | null }

/** Where a page stands, without a slash at the end. `origin` is ours. */
export const buildPageUrl = ({ slug, domain }: PageAddress, origin: string): string =>
  domain === null ? `${origin}/status/${slug}` : `https://${domain}`
