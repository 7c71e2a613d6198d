import type { ComponentChildren } from 'preact'
import { sha256 } from '../../platform/crypto/encryption.ts'
import { renderHtml } from './render.ts'

type HtmlDocument = {
  /** the language of the page's own texts, `en`; texts of users have `dir="auto"` */
  lang: string
  title: string
  /** `<meta>` and `<link>` elements */
  head?: ComponentChildren
  /** CSS texts, each in a style element, in this order */
  styles: readonly string[]
  /** browser modules, each in a script element */
  scripts: readonly string[]
  body: ComponentChildren
  /** sites that may show the page in a frame; defaults to none */
  frameAncestors?: string
  /** the page contains its icon as a `data:` URL */
  hasInlineIcon?: boolean
}

export type RenderedDocument = {
  html: string
  /** the Content-Security-Policy for exactly this text */
  csp: string
}

/**
 * Renders a whole page, with the policy under which it is served. Styles and scripts are inline and allowed by their hashes
 * instead of nonces, so that the bytes are the same for every visitor and the page can be cached, with an ETag and 304.
 * Everything else that a page loads must come from its own origin.
 */
export function renderDocument(page: HtmlDocument): RenderedDocument {
  const styles = page.styles.filter(style => style !== '').map(escapeElementText)
  const scripts = page.scripts.filter(script => script !== '').map(escapeElementText)
  const head = renderHtml(
    <>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width,initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>{page.title}</title>
      {page.head}
    </>,
  )
  const parts = [
    `<!doctype html><html lang="${page.lang}" data-code="${computeCodeHash([...styles, ...scripts])}"><head>`,
    head,
    ...styles.map(style => `<style>${style}</style>`),
    ...scripts.map(script => `<script type="module">${script}</script>`),
    '</head>',
    renderHtml(page.body),
    '</html>',
  ]
  return { html: parts.join(''), csp: buildCsp(styles, scripts, page) }
}

/** A short hash of styles and scripts, by which an open page detects that it must reload. */
const computeCodeHash = (texts: readonly string[]) => sha256(texts.join('\n')).toString('base64url').slice(0, 12)

/** Prevents a style or script from closing its own element. Inside strings `<\/` is `</`. */
const escapeElementText = (text: string) => text.replaceAll('</', '<\\/').replaceAll('<!--', '<\\!--')

function buildCsp(
  styles: readonly string[],
  scripts: readonly string[],
  { frameAncestors = "'none'", hasInlineIcon = false }: HtmlDocument,
): string {
  const hashes = (texts: readonly string[]) =>
    texts.map(text => `'sha256-${sha256(text).toString('base64')}'`).join(' ') || "'none'"
  return [
    "default-src 'none'",
    "base-uri 'none'",
    "connect-src 'self'",
    "form-action 'self'",
    `frame-ancestors ${frameAncestors}`,
    `img-src 'self'${hasInlineIcon ? ' data:' : ''}`,
    `script-src ${hashes(scripts)}`,
    `style-src ${hashes(styles)}`,
  ].join('; ')
}
