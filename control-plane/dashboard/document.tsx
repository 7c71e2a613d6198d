import type { ComponentChildren } from 'preact'
import { renderHtml } from '../foundation/web/html/render.ts'
import { ASSETS } from './assets.ts'
import { buildDisplay, type DocumentState, ROOT_ID, STATE_ID, serializeState } from './core/page-state.ts'

/**
 * The policy of every page: scripts, styles and fonts from this origin only, no inline code, and no assignment of HTML texts
 * by scripts (docs/design/dashboard.md#security).
 */
export const DASHBOARD_CSP = [
  "default-src 'none'",
  "base-uri 'none'",
  "connect-src 'self'",
  "font-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "frame-src 'self'",
  "img-src 'self' data:",
  "script-src 'self'",
  "style-src 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16' fill='%231a1c1f'%3E%3Cpath d='M1 2h3v12H1zM12 2h3v12h-3z'/%3E%3Cpath fill='%23d55e00' d='M6.5 2h3v5h-3zM6.5 9h3v5h-3z'/%3E%3C/svg%3E"

/** The fonts of the first screen. Loaded early, they are there when the page is first painted. */
const FONTS = Object.keys(ASSETS.files).filter(path => /-next-latin-.*\.woff2$/.test(path))

/** Renders a page. `state` null: the page stays as it is, because it is an error. */
export function renderPage(title: string, content: ComponentChildren, state: DocumentState | null): string {
  const display = Object.entries(state?.me.preferences ? buildDisplay(state.me.preferences) : {})
  const head = renderHtml(
    <>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width,initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex" />
      <title>{title}</title>
      <link rel="icon" href={ICON} />
      {FONTS.map(path => (
        <link key={path} rel="preload" as="font" type="font/woff2" href={path} crossOrigin="anonymous" />
      ))}
      {ASSETS.style && <link rel="stylesheet" href={ASSETS.style} />}
      {ASSETS.script && state && <script type="module" src={ASSETS.script} />}
    </>,
  )
  const data = state && `<script type="application/json" id="${STATE_ID}">${serializeState(state)}</script>`
  return [
    `<!doctype html><html lang="en"${display.map(([name, value]) => ` data-${name}="${value}"`).join('')}>`,
    `<head>${head}</head>`,
    `<body><div id="${ROOT_ID}">${renderHtml(content)}</div>${data ?? ''}</body></html>`,
  ].join('')
}
