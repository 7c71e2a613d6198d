import { sha256 } from '../../platform/secrets.ts'
import { escapeHtml } from '../../web/markup.ts'
import { linkOf } from '../feeds/statuspage.ts'
import type { OverallStatus, PageView } from '../types.ts'

export const EMBED_THEMES = ['auto', 'light', 'dark'] as const
export type EmbedTheme = (typeof EMBED_THEMES)[number]

const DOTS: Record<OverallStatus, string> = {
  operational: '#17b26a',
  degraded: '#f79009',
  partial_outage: '#ef6820',
  outage: '#f04438',
  maintenance: '#2e90fa',
  unknown: '#98a2b3',
}
const MOST_INCIDENTS = 3
const REFRESH_SECONDS = 60

const DARK = 'background:#161b26;color:#f5f5f6'
const STYLE = [
  'html{color-scheme:light dark}',
  "body{margin:0;padding:12px 16px;background:#fff;color:#101828;font:15px/22px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}",
  'a{color:inherit;text-decoration:none}a:hover{text-decoration:underline}a:focus-visible{outline:2px solid #2e90fa;outline-offset:2px}',
  '.now{display:flex;align-items:center;gap:10px;font-weight:600;overflow-wrap:anywhere}',
  '.now::before{content:"";flex:none;width:12px;height:12px;border-radius:50%}',
  ...Object.entries(DOTS).map(([status, colour]) => `.${status}::before{background:${colour}}`),
  'ul{margin:8px 0 0;padding:0 0 0 22px;font-size:14px;line-height:20px;overflow-wrap:anywhere}',
  `.dark{${DARK}}`,
  `@media (prefers-color-scheme:dark){.auto{${DARK}}}`,
].join('\n')

/** What the page may do: show itself with this style, in anybody's frame. Nothing else is loaded. */
export const EMBED_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${sha256(STYLE).toString('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  'frame-ancestors *',
].join('; ')

/** The page in small, for a frame: how things are, and the newest open incidents. It loads itself anew each minute. */
export function embedPage(view: PageView, theme: EmbedTheme): string {
  const { name, overall, publicUrl, openIncidents } = view
  const link = (url: string, text: string) =>
    `<a href="${escapeHtml(url)}" target="_blank" rel="noopener">${escapeHtml(text)}</a>`
  const incidents = openIncidents
    .slice(0, MOST_INCIDENTS)
    .map(({ id, title }) => `<li>${link(linkOf(view, id), title)}</li>`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta http-equiv="refresh" content="${REFRESH_SECONDS}">
<title>${escapeHtml(name)}</title>
<style>${STYLE}</style>
</head>
<body class="${theme}">
<div class="now ${overall.status}">${link(publicUrl, overall.sentence)}</div>
${incidents.length === 0 ? '' : `<ul>${incidents.join('')}</ul>\n`}</body>
</html>
`
}
