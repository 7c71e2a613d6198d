import { escapeXml } from '../../../foundation/web/html/escape.ts'
import type { BadgeStyle } from './embed-options.ts'
import { measureText } from './text-width.ts'

/** Texts are not escaped; `colour` is `#rrggbb`. */
export type Badge = { label: string; message: string; colour: string; style: BadgeStyle }

const SIZE_PX = 11
const HEIGHT_PX = 20
const MARGIN_PX = 6

/** A badge with two halves. The title repeats the text for screen readers. */
export function renderBadge({ label, message, colour, style }: Badge): string {
  const left = renderHalf(label, 0)
  const right = renderHalf(message, left.width)
  const width = left.width + right.width
  // badges of the same size in one document may share the id
  const clip = `${style}-${width}`
  const title = escapeXml(label === '' ? message : `${label}: ${message}`)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT_PX}" viewBox="0 0 ${width} ${HEIGHT_PX}" role="img" aria-label="${title}">
<title>${title}</title>
<clipPath id="${clip}"><rect width="${width}" height="${HEIGHT_PX}" rx="${style === 'flat' ? 3 : 0}"/></clipPath>
<g clip-path="url(#${clip})">
<rect width="${left.width}" height="${HEIGHT_PX}" fill="#344054"/>
<rect x="${left.width}" width="${right.width}" height="${HEIGHT_PX}" fill="${colour}"/>
</g>
<g fill="#ffffff" font-family="Verdana,Geneva,'DejaVu Sans',sans-serif" font-size="${SIZE_PX}" text-rendering="geometricPrecision">
${left.text}${right.text}</g>
</svg>
`
}

/** `textLength` keeps the computed width when the reader has another font. */
function renderHalf(text: string, x: number): { width: number; text: string } {
  if (text === '') return { width: 0, text: '' }
  const length = Math.round(measureText(text, SIZE_PX))
  const words = `<text x="${x + MARGIN_PX}" y="14" textLength="${length}" aria-hidden="true">${escapeXml(text)}</text>\n`
  return { width: length + 2 * MARGIN_PX, text: words }
}
