import type { VNode } from 'preact'
import type { PageView } from '../core/types.ts'

/** What a template lays out. */
export type TemplatePage = {
  view: PageView
  voice: TemplateTexts
}

/** The words of a template. `name` is the page's. */
export type TemplateTexts = {
  components: string
  noComponents: string
  openIncidents: string
  maintenance: string
  pastIncidents: string
  /** under a day, or several, without incidents */
  quiet: string
  subscribe: string
}

export type PageTemplate = {
  voice(name: string): TemplateTexts
  /** what stands in the body, below its root */
  Layout(page: TemplatePage): VNode
}

/** Addresses beside the page, which the same origin serves. */
export const buildPageLinks = ({ publicUrl }: PageView) => ({
  page: publicUrl,
  subscribe: `${publicUrl}/subscribe`,
  rss: `${publicUrl}/feed.rss`,
  atom: `${publicUrl}/feed.atom`,
  json: `${publicUrl}/api/v2/summary.json`,
  api: `${publicUrl}/api/v2`,
})

/** The path of a logo or favicon, on whatever origin the page is served; pages load nothing from any other. */
export function toSameOriginPath(url: string | null): string | null {
  return url?.startsWith('/') && !/^\/[/\\]/.test(url) ? url : null
}

/** The customer's own, or one in the brand's colour. */
export const getFaviconPath = ({ faviconUrl, slug }: PageView): string =>
  toSameOriginPath(faviconUrl) ?? `/status/${slug}/favicon`
