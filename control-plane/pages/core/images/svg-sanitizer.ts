import { type SaxesAttributeNS, SaxesParser, type SaxesTagNS } from 'saxes'
import { escapeXml } from '../../../foundation/web/html/escape.ts'

const SVG = 'http://www.w3.org/2000/svg'
const XLINK = 'http://www.w3.org/1999/xlink'
const XML = 'http://www.w3.org/XML/1998/namespace'

/** Elements that draw. None of them runs, links, loads or contains other languages. */
const ELEMENTS = new Set(
  `svg g defs symbol use title desc path rect circle ellipse line polyline polygon text tspan textPath image style switch
  linearGradient radialGradient stop pattern clipPath mask marker filter feBlend feColorMatrix feComponentTransfer
  feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB
  feFuncG feFuncR feGaussianBlur feMerge feMergeNode feMorphology feOffset fePointLight feSpecularLighting feSpotLight
  feTile feTurbulence`.split(/\s+/),
)
const MAX_ELEMENTS = 20_000
const MAX_DEPTH = 100
/** of one element. The parser takes long for elements with many. */
const MAX_ATTRIBUTES = 500

/** A reference inside the picture, or an embedded raster picture. */
const GOOD_HREF = /^(#|data:image\/(png|jpeg|webp);base64,[A-Za-z0-9+/=\s]*$)/

/**
 * Keeps only what draws: no script, event, link, animation, foreign content, entity or external reference.
 * The SVG is parsed as XML, as browsers parse it, and written again, so no part of the original text remains that was
 * not parsed. `problem` is a sentence without a subject.
 */
export function sanitizeSvg(text: string): { svg: string } | { problem: string } {
  try {
    return { svg: rewrite(text) }
  } catch (error) {
    return { problem: `is not a valid SVG: ${(error as Error).message.replace(/^[\d:]+\s*/, '')}` }
  }
}

function rewrite(text: string): string {
  const parser = new SaxesParser({ xmlns: true })
  const out: string[] = []
  // for each open element, whether it is kept
  const open: boolean[] = []
  const isKept = () => open.length === 0 || open.at(-1)!
  let style: string | null = null
  let elements = 0
  let attributes = 0

  parser.on('error', error => {
    throw error
  })
  parser.on('opentagstart', () => {
    attributes = 0
  })
  parser.on('attribute', () => {
    if (++attributes > MAX_ATTRIBUTES) throw new Error(`an element has more than ${MAX_ATTRIBUTES} attributes`)
  })
  parser.on('opentag', tag => {
    if (++elements > MAX_ELEMENTS || open.length > MAX_DEPTH)
      throw new Error('it has too many elements, or nests too deep')
    if (open.length === 0 && (tag.uri !== SVG || tag.local !== 'svg')) throw new Error('the root element is not svg')
    // an element inside <style> would end the text of the style sheet before it is checked
    const stays = isKept() && style === null && tag.uri === SVG && ELEMENTS.has(tag.local)
    open.push(stays)
    if (!stays) return
    const namespaces = open.length === 1 ? ` xmlns="${SVG}" xmlns:xlink="${XLINK}"` : ''
    out.push(`<${tag.local}${namespaces}${writeAttributes(tag)}>`)
    if (tag.local === 'style') style = ''
  })
  parser.on('closetag', tag => {
    if (!open.pop()) return
    if (style !== null) out.push(escapeXml(isSafeStyle(style) ? style : ''))
    style = null
    out.push(`</${tag.local}>`)
  })
  const write = (characters: string) => {
    if (open.length === 0 || !isKept()) return
    if (style === null) out.push(escapeXml(characters))
    else style += characters
  }
  parser.on('text', write)
  parser.on('cdata', write)
  parser.write(text.replace(/^\uFEFF/, '')).close()
  return out.join('')
}

function writeAttributes(tag: SaxesTagNS): string {
  return Object.values(tag.attributes)
    .filter(isSafeAttribute)
    .map(({ prefix, local, value }) => ` ${prefix === '' ? '' : `${prefix}:`}${local}="${escapeXml(value)}"`)
    .join('')
}

function isSafeAttribute({ uri, prefix, local, value }: SaxesAttributeNS): boolean {
  if (local === 'href') return (uri === '' || (uri === XLINK && prefix === 'xlink')) && GOOD_HREF.test(value.trim())
  if (uri === XML) return prefix === 'xml' && (local === 'space' || local === 'lang')
  return uri === '' && local !== 'xmlns' && !/^on/i.test(local) && isSafeStyle(value)
}

/**
 * No import, no external reference, and no escapes, which could hide one. After `url(`, each part of the expression matches,
 * so it does not try again from each of a million spaces.
 */
function isSafeStyle(css: string): boolean {
  if (/\\|@import|expression|javascript:|image-set|src\s*\(/i.test(css)) return false
  return [...css.matchAll(/url\s*\(\s*(?:["']\s*)?(\S?)/gi)].every(([, first]) => first === '#')
}
