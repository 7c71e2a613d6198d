import pixelmatch from 'pixelmatch'
import { PNG } from 'pngjs'

/** How different two pixels may be and still count as the same, 0 to 1; edges that were smoothed anew do not count. */
const PIXEL_THRESHOLD = 0.1
/** More than a page is ever photographed at; checked before anything is unpacked. */
const MAX_SIDE_PIXELS = 2_000

/** Width, height, and four bytes a pixel. */
export type PageImage = Pick<PNG, 'width' | 'height' | 'data'>

/** What came from a probe is no picture of a page, and will not become one when it comes again. */
export class ImageError extends Error {}

/** The share of pixels, 0 to 1, in which two pages differ; 1 when their sizes do. */
export function computeDifference(before: PageImage, after: PageImage): number {
  if (before.width !== after.width || before.height !== after.height) return 1
  const { width, height } = before
  const differing = pixelmatch(before.data, after.data, undefined, width, height, { threshold: PIXEL_THRESHOLD })
  return differing / (width * height)
}

/** Unpacks a PNG. Throws a PictureError for what is none or too large. */
export function decodePage(bytes: Buffer): PageImage {
  const isHead = bytes.length > 24 && bytes.toString('latin1', 12, 16) === 'IHDR'
  const sides = isHead ? [bytes.readUInt32BE(16), bytes.readUInt32BE(20)] : []
  if (!isHead || sides.some(side => side === 0 || side > MAX_SIDE_PIXELS)) throw new ImageError('no PNG of a page')
  try {
    return PNG.sync.read(bytes)
  } catch (error) {
    throw new ImageError(`no PNG: ${(error as Error).message}`)
  }
}
