import { type RenderedDocument, renderDocument } from '../../../foundation/web/html/document.tsx'
import type { OverallStatus, PageView } from '../../core/types.ts'
import { SCRIPT } from '../../templates/assets.ts'
import { StaleNotice } from '../../templates/parts/frame.tsx'
import { getFaviconPath } from '../../templates/template.ts'
import { buildIncidentUrl } from '../feeds/statuspage.ts'
import type { EMBED_THEMES } from './embed-options.ts'

const DOTS: Record<OverallStatus, string> = {
  operational: '#17b26a',
  degraded: '#f79009',
  partial_outage: '#ef6820',
  outage: '#f04438',
  maintenance: '#2e90fa',
  unknown: '#98a2b3',
}
const MAX_INCIDENTS = 3

const DARK = 'background:#161b26;color:#f5f5f6'
const STYLE = [
  "body{margin:0;padding:12px 16px;background:#fff;color:#101828;font:15px/22px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;overflow-wrap:anywhere}",
  'a{color:inherit}a:focus-visible{outline:2px solid #2e90fa;outline-offset:2px}',
  '.now{display:flex;align-items:center;gap:10px;margin:0;font-size:15px;font-weight:600}.now a:not(:hover){text-decoration:none}',
  '.now::before{content:"";flex:none;width:12px;height:12px;border-radius:50%}',
  ...Object.entries(DOTS).map(([status, colour]) => `.${status}::before{background:${colour}}`),
  '.stale{margin:0 0 8px;font-size:14px;line-height:20px;font-style:italic}',
  'ul{margin:8px 0 0;padding:0 0 0 22px;font-size:14px;line-height:20px}',
  `.dark{${DARK}}`,
  `@media (prefers-color-scheme:dark){.auto{${DARK}}}`,
].join('\n')

/** A small page for frames on other sites: the overall status and the newest open incidents. It updates itself. */
export function renderEmbedPage(view: PageView, theme: (typeof EMBED_THEMES)[number]): RenderedDocument {
  const { name, overall, publicUrl, openIncidents } = view
  const shown = openIncidents.slice(0, MAX_INCIDENTS)
  return renderDocument({
    lang: 'en',
    title: name,
    head: (
      <>
        <meta name="robots" content="noindex" />
        <link rel="icon" href={getFaviconPath(view)} />
      </>
    ),
    styles: [STYLE],
    scripts: [SCRIPT],
    frameAncestors: '*',
    body: (
      <body class={theme}>
        <StaleNotice view={view} />
        <main id="now" data-live>
          <h1 class={`now ${overall.status}`}>
            <Outside href={publicUrl} text={overall.sentence} />
          </h1>
          {shown.length > 0 && (
            <ul>
              {shown.map(({ id, title }) => (
                <li dir="auto">
                  <Outside href={buildIncidentUrl(view, id)} text={title} />
                </li>
              ))}
            </ul>
          )}
        </main>
      </body>
    ),
  })
}

/** A link that opens outside the frame. */
const Outside = ({ href, text }: { href: string; text: string }) => (
  <a href={href} target="_blank" rel="noopener">
    {text}
  </a>
)
