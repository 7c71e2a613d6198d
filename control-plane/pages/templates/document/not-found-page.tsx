import { type RenderedDocument, renderDocument } from '../../../foundation/web/html/document.tsx'
import { STYLES } from '../assets.ts'
import { buildBrandStyle } from './brand-style.ts'

const QUIET_BLUE = '#2563eb'

/** The page at an address without a published page. It is the same for unpublished and for unknown pages. */
export function renderNotFoundPage(): RenderedDocument {
  return renderDocument({
    lang: 'en',
    title: 'Status page not found',
    head: (
      <>
        <meta name="robots" content="noindex" />
        <link rel="icon" href="data:," />
      </>
    ),
    styles: [STYLES.base + STYLES.forms, buildBrandStyle(QUIET_BLUE)],
    scripts: [],
    body: (
      <body>
        <div class="page forms">
          <main>
            <h1>Status page not found</h1>
            <p>The page may not be published yet, or the address may be wrong.</p>
          </main>
        </div>
      </body>
    ),
  })
}
