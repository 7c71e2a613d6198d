import { type RenderedDocument, renderDocument } from '../../../foundation/web/html/document.tsx'
import { STYLES } from '../assets.ts'
import { buildBrandStyle } from './brand-style.ts'

const QUIET_BLUE = '#2563eb'

/** What people see where no page is published. The same everywhere, so that nobody learns which unpublished ones there are. */
export function renderNotFoundPage(): RenderedDocument {
  return renderDocument({
    lang: 'en',
    title: 'No status page here',
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
            <h1>There is no status page here</h1>
            <p>It may not be published yet, or the address has a typing mistake.</p>
          </main>
        </div>
      </body>
    ),
  })
}
