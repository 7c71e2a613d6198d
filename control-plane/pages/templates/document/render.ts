import { h } from 'preact'
import { type RenderedDocument, renderDocument } from '../../../foundation/web/html/document.tsx'
import type { PageView } from '../../core/types.ts'
import { SCRIPT, STYLES } from '../assets.ts'
import { Body } from './body.tsx'
import { buildBrandStyle } from './brand-style.ts'
import { getTitle, Head } from './head.tsx'

/**
 * A public page as people see it, and the policy to serve it under. The same view makes the same bytes, so the answer can
 * be kept, have an ETag and be served to everybody. Everything that a browser needs stands inside; it asks for nothing
 * but the logo and the favicon, and those only where they stand on the origin of `publicUrl`.
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
