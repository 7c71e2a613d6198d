import pixelmatch from 'pixelmatch'
import { PNG } from 'pngjs'

/** How much two pixels may differ and still count as equal, 0 to 1. Differences of antialiasing are ignored. */
const PIXEL_THRESHOLD = 0.1
/** Twice the width of a capture. Checked before the image is decoded. */
const MAX_SIDE_PIXELS = 1_280
/** Where the header of a PNG says whether its lines are interlaced. */
const INTERLACE_BYTE = 28

/** Width, height, and four bytes for each pixel. */
export type PageImage = Pick<PNG, 'width' | 'height' | 'data'>

/** The data is not an image of a page. A retry would fail as well. */
export class ImageError extends Error {}

/** Returns the share of pixels, 0 to 1, in which two pages differ; 1 when their sizes differ. */
export function computeDifference(before: PageImage, after: PageImage): number {
  if (before.width !== after.width || before.height !== after.height) return 1
  const { width, height } = before
  const differing = pixelmatch(before.data, after.data, undefined, width, height, { threshold: PIXEL_THRESHOLD })
  return differing / (width * height)
}

/** Two pictures. `before` null: only the other one is decoded. */
export type ScreenshotComparison = { before: Buffer | null; after: Buffer }
/** `difference` null: there is only one picture. `problem`: why one of them is not an image of a page. */
export type ComparisonResult = { difference: number | null } | { problem: string }

/** Decodes two pictures and compares them. */
export function compareScreenshots({ before, after }: ScreenshotComparison): ComparisonResult {
  try {
    const page = decodePage(after)
    return { difference: before === null ? null : computeDifference(decodePage(before), page) }
  } catch (error) {
    if (!(error instanceof ImageError)) throw error
    return { problem: error.message }
  }
}

/**
 * Decodes a PNG. Throws an ImageError when the data is not a PNG, the image is too large, or its lines are interlaced:
 * captures are not, and the decoder expands interlaced data of any size.
 */
export function decodePage(bytes: Buffer): PageImage {
  const hasHeader = bytes.length > INTERLACE_BYTE && bytes.toString('latin1', 12, 16) === 'IHDR'
  const sides = hasHeader ? [bytes.readUInt32BE(16), bytes.readUInt32BE(20)] : []
  if (!hasHeader || sides.some(side => side === 0 || side > MAX_SIDE_PIXELS) || bytes[INTERLACE_BYTE] !== 0)
    throw new ImageError('the data is not a PNG of a page')
  try {
    return PNG.sync.read(bytes)
  } catch (error) {
    throw new ImageError(`the data is not a valid PNG: ${(error as Error).message}`)
  }
}
