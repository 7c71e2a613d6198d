import type { VNode } from 'preact'
import type { PageView } from '../core/types.ts'

/** The parts of a template. */
export type TemplatePage = {
  view: PageView
  voice: TemplateTexts
}

/** The texts of a template. `name`: the name of the page. */
type TemplateTexts = {
  components: string
  noComponents: string
  openIncidents: string
  maintenance: string
  pastIncidents: string
  /** for one or several days without incidents */
  quiet: string
  subscribe: string
}

export type PageTemplate = {
  voice(name: string): TemplateTexts
  /** the content of the body, below its root element */
  Layout(page: TemplatePage): VNode
}

/** Addresses of the other documents of the page, on the same origin. */
export const buildPageLinks = ({ publicUrl }: PageView) => ({
  page: publicUrl,
  subscribe: `${publicUrl}/subscribe`,
  rss: `${publicUrl}/feed.rss`,
  atom: `${publicUrl}/feed.atom`,
  json: `${publicUrl}/api/v2/summary.json`,
  api: `${publicUrl}/api/v2`,
})

/** The path of a logo or favicon on the origin of the page. Pages load nothing from other origins. */
export function toSameOriginPath(url: string | null): string | null {
  return url?.startsWith('/') && !/^\/[/\\]/.test(url) ? url : null
}

/** The favicon of the customer, or the default one in the brand colour. */
export const getFaviconPath = ({ faviconUrl, path }: PageView): string =>
  toSameOriginPath(faviconUrl) ?? `${path}/favicon`

/** The address of the logo for link previews: below the public address of the page, whichever one was visited. */
export function getLogoUrl({ logoUrl, path, publicUrl }: PageView): string | null {
  const logo = toSameOriginPath(logoUrl)
  return logo?.startsWith(`${path}/`) ? `${publicUrl}${logo.slice(path.length)}` : null
}
