import { h } from 'preact'
import { type RenderedDocument, renderDocument } from '../../../foundation/web/html/document.tsx'
import type { PageView } from '../../core/types.ts'
import { SCRIPT, STYLES } from '../assets.ts'
import { Body } from './body.tsx'
import { buildBrandStyle } from './brand-style.ts'
import { getTitle, Head } from './head.tsx'

/**
 * Renders a public page and its Content-Security-Policy (docs/design/status-pages.md#templates). The same view gives
 * the same bytes, so the response can be cached, has an ETag and is the same for all visitors. The document is
 * complete; a browser requests only the logo and the favicon, from the same origin.
 */
export function renderPage(view: PageView): RenderedDocument {
  return renderDocument({
    lang: 'en',
    title: getTitle(view),
    head: h(Head, { view }),
    styles: [STYLES.base + STYLES[view.template], buildBrandStyle(view.brandColor), view.customCss ?? ''],
    scripts: [SCRIPT],
    body: h(Body, { view }),
  })
}
