import { type ComponentChildren, Fragment, h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { sha256 } from '../../platform/crypto/encryption.ts'

export type HtmlDocument = {
  /** of the page's own words, `en`; what users wrote carries `dir="auto"` */
  lang: string
  title: string
  /** `<meta>` and `<link>` elements */
  head?: ComponentChildren
  /** CSS, a style element each, in this order */
  styles: readonly string[]
  /** browser modules, each a program of its own */
  scripts: readonly string[]
  body: ComponentChildren
  /** who may show the page in a frame: nobody unless said otherwise */
  frameAncestors?: string
  /** an icon that stands in the page itself, as a `data:` address */
  hasInlineIcon?: boolean
}

export type RenderedDocument = {
  html: string
  /** the value of the header Content-Security-Policy that belongs to exactly this text */
  csp: string
}

/**
 * A whole page as text, with the policy under which it is served. Styles and scripts stand inside and are allowed by
 * their hashes, not by nonces: the same bytes are the answer for everybody, so a page can be cached, have an ETag and
 * answer 304. Everything else that a page may load comes from its own origin.
 */
export function renderDocument(page: HtmlDocument): RenderedDocument {
  const styles = page.styles.filter(style => style !== '').map(escapeElementText)
  const scripts = page.scripts.filter(script => script !== '').map(escapeElementText)
  const head = renderToString(
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
    renderToString(h(Fragment, null, page.body)),
    '</html>',
  ]
  return { html: parts.join(''), csp: buildCsp(styles, scripts, page) }
}

/** Short, and another one for other styles and scripts: a page that is open sees whether it has to load itself anew. */
const computeCodeHash = (texts: readonly string[]) => sha256(texts.join('\n')).toString('base64url').slice(0, 12)

/** The last wall: whatever a style or a script holds, it does not close its own element. Inside strings `<\/` is `</`. */
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
