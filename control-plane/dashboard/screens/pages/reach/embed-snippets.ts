import { buildEmbedLinks, buildSnippets } from '../../../../pages/admin/embed-snippets.ts'
import { buildAddress } from '../../../core/address.ts'
import { WIDGET_FRAME_PATH } from '../../../core/navigation.ts'

/** A badge as the form has it. `component`: an id; empty: the whole page. */
export type BadgeOptions = { figure: 'status' | 'uptime' | 'response_time'; component: string; style: string }

/** The address of a badge and the snippets that show it. Defaults are left out of the address. */
export function buildBadgeSnippets(pageUrl: string, { figure, component, style }: BadgeOptions) {
  const search = buildAddress('', {
    type: figure === 'status' ? null : figure,
    component,
    style: style === 'flat' ? null : style,
  })
  const links = buildEmbedLinks(pageUrl)
  const url = `${links.badge}${search}`
  const snippets = buildSnippets('', { ...links, badge: url })
  // an ampersand in an attribute is written as an entity
  const html = snippets.badge_html!.replace(url, url.replaceAll('&', '&amp;'))
  return { search, url, markdown: snippets.badge_markdown!, html }
}

export const POSITIONS = ['bottom-right', 'bottom-left', 'top-right', 'top-left', 'inline'] as const

/** `isHidden`: while everything works. */
export type WidgetOptions = { position: (typeof POSITIONS)[number]; theme: string; isHidden: boolean }

/** The tag of the widget. Defaults are left out. */
export function buildWidgetSnippet(pageUrl: string, { position, theme, isHidden }: WidgetOptions): string {
  const options = [
    position !== 'bottom-right' && ` data-position="${position}"`,
    theme !== 'auto' && ` data-theme="${theme}"`,
    isHidden && ' data-hide-when-operational',
  ]
  const tag = buildSnippets('', buildEmbedLinks(pageUrl)).widget_html!
  return tag.replace(' async', `${options.filter(Boolean).join('')} async`)
}

/** The address of the document that shows the widget with these options. */
export const buildWidgetFramePath = (slug: string, { position, theme, isHidden }: WidgetOptions): string =>
  buildAddress(WIDGET_FRAME_PATH, { slug, position, theme, hidden: isHidden ? 'true' : null })

/** The element of the frame, and the query of its address. */
export function buildFrameSnippet({ public_url: pageUrl, name }: { public_url: string; name: string }, theme: string) {
  const search = buildAddress('', { theme: theme === 'auto' ? null : theme })
  const title = escapeAttribute(`Status of ${name}`)
  return {
    search,
    html: `<iframe src="${pageUrl}/embed${search}" title="${title}" width="100%" height="120" loading="lazy"></iframe>`,
  }
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '"': '&quot;', '<': '&lt;', '>': '&gt;' }
const escapeAttribute = (text: string) => text.replace(/[&"<>]/g, character => ENTITIES[character]!)
