import type { PageView } from '../../core/types.ts'
import { buildPageLinks, getFaviconPath, getLogoUrl } from '../template.ts'

/** The customer's texts for search engines, else the name of the page. */
export const getTitle = ({ name, seoTitle }: PageView): string =>
  seoTitle ?? (/\bstatus\b/i.test(name) ? name : `${name} status`)

const getDescription = ({ name, seoDescription }: PageView): string =>
  seoDescription ?? `Live status, uptime of the last 90 days, incidents and planned maintenance of ${name}.`

/** Metadata for search engines, link previews, feed readers and browser tabs. */
export function Head({ view }: { view: PageView }) {
  const [title, description, links] = [getTitle(view), getDescription(view), buildPageLinks(view)]
  const logo = getLogoUrl(view)
  return (
    <>
      <meta name="description" content={description} />
      <link rel="canonical" href={links.page} />
      <link rel="alternate" type="application/rss+xml" title={`${title} (RSS)`} href={links.rss} />
      <link rel="alternate" type="application/atom+xml" title={`${title} (Atom)`} href={links.atom} />
      <link rel="icon" href={getFaviconPath(view)} />
      <meta name="theme-color" content={view.brandColor} />
      <meta property="og:type" content="website" />
      <meta property="og:title" content={title} />
      <meta property="og:description" content={description} />
      <meta property="og:url" content={links.page} />
      <meta property="og:site_name" content={view.name} />
      {logo && <meta property="og:image" content={logo} />}
      <meta name="twitter:card" content="summary" />
    </>
  )
}
