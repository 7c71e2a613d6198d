import pixelmatch from 'pixelmatch'
import { PNG } from 'pngjs'

/** How different two pixels may be and still count as the same, 0 to 1; edges that were smoothed anew do not count. */
const PIXEL_THRESHOLD = 0.1
/** More than a page is ever photographed at; checked before anything is unpacked. */
const LARGEST_SIDE = 2_000

/**
 * The share of pixels, 0 to 1, in which two PNGs differ; 1 when their sizes do. Throws for what is no PNG or too large.
 */
export function differenceOf(baseline: Buffer, comparison: Buffer): number {
  const [before, after] = [read(baseline), read(comparison)]
  if (before.width !== after.width || before.height !== after.height) return 1
  const { width, height } = before
  const differing = pixelmatch(before.data, after.data, undefined, width, height, { threshold: PIXEL_THRESHOLD })
  return differing / (width * height)
}

function read(bytes: Buffer): PNG {
  const isHead = bytes.length > 24 && bytes.toString('latin1', 12, 16) === 'IHDR'
  const sides = isHead ? [bytes.readUInt32BE(16), bytes.readUInt32BE(20)] : []
  if (!isHead || sides.some(side => side === 0 || side > LARGEST_SIDE)) throw new Error('this is no PNG of a page')
  return PNG.sync.read(bytes)
}
