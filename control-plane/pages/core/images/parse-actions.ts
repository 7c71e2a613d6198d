import { createProjectThread } from '../../../foundation/web/limits/project-thread.ts'
import { detectRasterType, MAX_IMAGE_BYTES, type ParsedImage, parseImage } from './image-format.ts'

/** An SVG up to this size is sanitized in the main thread. One of 1 MiB takes up to half a second. */
const MAX_INLINE_BYTES = 8 * 1024
const inThread = createProjectThread<Uint8Array, ParsedImage>('svg-worker', import.meta.url, {
  maxWaiting: 10,
  memoryMb: 256,
  one: 'image',
  many: 'images',
})

/**
 * Parses an uploaded or fetched image (see `parseImage`). Images with the same `owner` take turns with those of others.
 * Throws 429 when too many of the owner wait, and 503.
 */
export async function parseOwnedImage(owner: string, bytes: Buffer): Promise<ParsedImage> {
  const isSmall = bytes.length <= MAX_INLINE_BYTES || bytes.length > MAX_IMAGE_BYTES
  if (isSmall || detectRasterType(bytes) !== null) return parseImage(bytes)
  const image = await inThread(owner, bytes)
  return 'problem' in image ? image : { ...image, bytes: Buffer.from(image.bytes) }
}
