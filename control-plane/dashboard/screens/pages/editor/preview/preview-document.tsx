import { h, render } from 'preact'
import type { PageView } from '../../../../../pages/core/types.ts'
import { STYLES } from '../../../../../pages/templates/assets.ts'
import { PageRoot } from '../../../../../pages/templates/document/body.tsx'
import { buildBrandStyle } from '../../../../../pages/templates/document/brand-style.ts'
import { type ColorScheme, chooseScheme } from '../../../../parts/isolated.tsx'

/** Renders views into the document of a frame. The same element and the same styles as on the published page. */
export type PreviewDocument = { show(view: PageView, scheme: ColorScheme): void }

/**
 * Prepares the document of a frame of this origin. The styles are constructed style sheets, which a strict policy allows: no text of
 * a person becomes HTML. They are those of `renderPage`, in its order: template, colours, custom CSS.
 */
export function preparePreview(frame: Document): PreviewDocument {
  const { CSSStyleSheet: FrameSheet } = frame.defaultView as unknown as { CSSStyleSheet: typeof CSSStyleSheet }
  const sheets = SHEETS.map(() => new FrameSheet())
  const made: string[] = []
  frame.adoptedStyleSheets = sheets
  frame.addEventListener('click', stayHere)
  return {
    show(view, scheme) {
      for (const [i, { source, toCss }] of SHEETS.entries()) {
        const text = `${scheme} ${source(view)}`
        if (made[i] === text) continue
        made[i] = text
        sheets[i]!.replaceSync(toCss(view, scheme))
        chooseScheme(sheets[i]!.cssRules, scheme)
      }
      render(h(PageRoot, { view }), frame.body)
    },
  }
}

/** `source`: what the CSS is made from. It is made again when that changes, or the scheme. */
type Sheet = { source(view: PageView): string; toCss(view: PageView, scheme: ColorScheme): string }

const SHEETS: readonly Sheet[] = [
  { source: view => view.template, toCss: view => STYLES.base + STYLES[view.template] },
  { source: view => view.brandColor, toCss: view => buildBrandStyle(view.brandColor) },
  { source: view => view.customCss ?? '', toCss: view => view.customCss ?? '' },
  { source: () => '', toCss: (_, scheme) => `:root{color-scheme:${scheme}}` },
]

/** Links of the preview open nothing, except places in the page. */
function stayHere(event: Event): void {
  const link = (event.target as Element | null)?.closest?.('a')
  if (link && !link.getAttribute('href')?.startsWith('#')) event.preventDefault()
}
