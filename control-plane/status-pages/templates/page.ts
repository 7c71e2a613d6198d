import type { VNode } from 'preact'
import type { PageView } from '../types.ts'

/** What a template lays out. */
export type Page = {
  view: PageView
  voice: Voice
}

/** The words of a template. `name` is the page's. */
export type Voice = {
  components: string
  noComponents: string
  openIncidents: string
  maintenance: string
  pastIncidents: string
  /** under a day, or several, without incidents */
  quiet: string
  subscribe: string
}

export type Template = {
  voice(name: string): Voice
  /** what stands in the body, below its root */
  Layout(page: Page): VNode
}

/** Addresses beside the page, which the same origin serves. */
export const linksOf = ({ publicUrl }: PageView) => ({
  page: publicUrl,
  subscribe: `${publicUrl}/subscribe`,
  rss: `${publicUrl}/feed.rss`,
  atom: `${publicUrl}/feed.atom`,
  json: `${publicUrl}/api/v2/summary.json`,
  api: `${publicUrl}/api/v2`,
})

/** The path of a logo or favicon, on whatever origin the page is served; pages load nothing from any other. */
export function ownPath(url: string | null): string | null {
  return url?.startsWith('/') && !/^\/[/\\]/.test(url) ? url : null
}

/** The customer's own, or one in the brand's colour. */
export const faviconOf = ({ faviconUrl, slug }: PageView): string => ownPath(faviconUrl) ?? `/status/${slug}/favicon`
