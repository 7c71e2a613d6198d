import { pickTextColor } from '../../../foundation/web/html/contrast.ts'

/**
 * The icon of a page without a favicon: bars in the brand colour. Without an icon, browsers request `/favicon.ico`,
 * which does not exist.
 */
export const buildDefaultFavicon = (brandColor: string): { contentType: string; bytes: Buffer } => ({
  contentType: 'image/svg+xml',
  bytes: Buffer.from(renderDefaultFavicon(brandColor)),
})

export function renderDefaultFavicon(brandColor: string): string {
  const bars = '<path d="M10 14v4m6-8v12m6-8v4"'
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">' +
    `<rect width="32" height="32" rx="9" fill="${brandColor}"/>` +
    `${bars} fill="none" stroke="${pickTextColor(brandColor)}" stroke-width="3.5" stroke-linecap="round"/></svg>`
  )
}
