/** The parts of the address of a public status page. `domain`: its custom domain, null unless it is verified. */
export type PageAddress = { slug: string; domain: string | null }

/** The address of a status page, without a slash at the end. `origin`: that of this installation. */
export const buildPageUrl = ({ slug, domain }: PageAddress, origin: string): string =>
  domain === null ? `${origin}/status/${slug}` : `https://${domain}`
