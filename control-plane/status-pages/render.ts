import { h } from 'preact'
import { type RenderedDocument, renderDocument } from '../web/document.tsx'
import { SCRIPT, STYLES } from './assets.ts'
import { brandStyle } from './brand-style.ts'
import { Body } from './templates/body.tsx'
import { Head, titleOf } from './templates/head.tsx'
import type { PageView } from './types.ts'

/**
 * A public page as people see it, and the policy to serve it under. The same view makes the same bytes, so the answer can
 * be kept, have an ETag and be served to everybody. Everything that a browser needs stands inside; it asks for nothing
 * but the logo and the favicon, and those only where they stand on the origin of `publicUrl`.
 */
export function renderPage(view: PageView): RenderedDocument {
  return renderDocument({
    lang: 'en',
    title: titleOf(view),
    head: h(Head, { view }),
    styles: [STYLES.base + STYLES[view.template], brandStyle(view.brandColor), view.customCss ?? ''],
    scripts: [SCRIPT],
    body: h(Body, { view }),
  })
}
