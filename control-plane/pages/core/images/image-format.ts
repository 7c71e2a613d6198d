import { sanitizeSvg } from './svg-sanitizer.ts'

/** Accepted types of uploaded and fetched images (docs/design/status-pages.md#images). */
export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/svg+xml'] as const
export type ImageType = (typeof IMAGE_TYPES)[number]

/** The policy of an image that is opened by itself: an SVG runs and loads nothing. */
export const IMAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

export const MAX_IMAGE_BYTES = 1024 * 1024

export type ParsedImage = { contentType: ImageType; bytes: Buffer } | { problem: string }

/** Detects the type from the bytes and sanitizes SVG. `problem` is a sentence without a subject. */
export function parseImage(bytes: Buffer): ParsedImage {
  if (bytes.length === 0) return { problem: 'is empty' }
  if (bytes.length > MAX_IMAGE_BYTES) return { problem: 'is larger than 1 MiB' }
  const raster = detectRasterType(bytes)
  if (raster !== null) return { contentType: raster, bytes }
  const text = decodeUtf8(bytes)
  if (text === null || !/^\s*</.test(text)) return { problem: 'is not a PNG, JPEG, WebP or SVG image' }
  const safe = sanitizeSvg(text)
  if ('problem' in safe) return safe
  const svg = Buffer.from(safe.svg)
  // the written SVG can be longer than the original
  return svg.length > MAX_IMAGE_BYTES
    ? { problem: 'is larger than 1 MiB' }
    : { contentType: 'image/svg+xml', bytes: svg }
}

/** Null: it may be an SVG. */
export function detectRasterType(bytes: Buffer): ImageType | null {
  const begins = (hex: string, at = 0) => bytes.subarray(at, at + hex.length / 2).toString('hex') === hex
  if (begins('89504e470d0a1a0a')) return 'image/png'
  if (begins('ffd8ff')) return 'image/jpeg'
  return begins('52494646') && begins('57454250', 8) ? 'image/webp' : null
}

function decodeUtf8(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
