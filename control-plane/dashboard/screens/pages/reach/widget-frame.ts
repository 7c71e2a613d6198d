import { EMBED_THEMES } from '../../../../pages/public/embeds/embed-options.ts'
import { isSlug } from '../../../../pages/public/site.ts'
import { buildWidgetSnippet, POSITIONS } from './embed-snippets.ts'

/** The script of the widget runs and reads the status of its page; nothing else is loaded. */
export const WIDGET_CSP =
  "default-src 'none'; base-uri 'none'; connect-src 'self'; form-action 'none'; frame-ancestors 'self'; script-src 'self'"

/** A document with the snippet that is shown next to it. Null for an unknown option. */
export function renderWidgetFrame(query: Record<string, unknown>): string | null {
  const { slug, hidden } = query
  const position = POSITIONS.find(one => one === query.position)
  const theme = EMBED_THEMES.find(one => one === query.theme)
  if (typeof slug !== 'string' || !isSlug(slug) || !position || !theme) return null
  const snippet = buildWidgetSnippet(`/status/${slug}`, { position, theme, isHidden: hidden === 'true' })
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>Widget</title></head><body>${snippet}</body></html>`
}
