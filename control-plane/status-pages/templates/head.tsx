import type { PageView } from '../types.ts'
import { faviconOf, linksOf, ownPath } from './page.ts'

/** The customer's own words for search engines, else the page's name. */
export const titleOf = ({ name, seoTitle }: PageView): string =>
  seoTitle ?? (/\bstatus\b/i.test(name) ? name : `${name} status`)

const descriptionOf = ({ name, seoDescription }: PageView): string =>
  seoDescription ?? `Live status, uptime of the last 90 days, incidents and planned maintenance of ${name}.`

/** What search engines, chats that preview links, feed readers and browsers' tabs want to know. */
export function Head({ view }: { view: PageView }) {
  const [title, description, links] = [titleOf(view), descriptionOf(view), linksOf(view)]
  const logo = ownPath(view.logoUrl)
  return (
    <>
      <meta name="description" content={description} />
      <link rel="canonical" href={links.page} />
      <link rel="alternate" type="application/rss+xml" title={`${title} (RSS)`} href={links.rss} />
      <link rel="alternate" type="application/atom+xml" title={`${title} (Atom)`} href={links.atom} />
      <link rel="icon" href={faviconOf(view)} />
      <meta name="theme-color" content={view.brandColor} />
      <meta property="og:type" content="website" />
      <meta property="og:title" content={title} />
      <meta property="og:description" content={description} />
      <meta property="og:url" content={links.page} />
      <meta property="og:site_name" content={view.name} />
      {logo && <meta property="og:image" content={new URL(logo, view.publicUrl).href} />}
      <meta name="twitter:card" content="summary" />
    </>
  )
}
