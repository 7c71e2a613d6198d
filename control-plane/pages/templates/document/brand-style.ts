import {
  adjustForContrast,
  MIN_TEXT_CONTRAST,
  mixColors,
  pickTextColor,
} from '../../../foundation/web/html/contrast.ts'

/**
 * The darkest background of a light page and the lightest of a dark page: enough contrast there is enough on all
 * others.
 */
export const LIGHT_BACKGROUND = '#f2f4f7'
export const DARK_BACKGROUND = '#1f2430'

type BrandColors = {
  /** a surface in the brand colour, and the text on it */
  brand: string
  onBrand: string
  /** the same, one shade darker, for dark pages */
  deep: string
  onDeep: string
  /** links and icons in the nearest readable shade of the brand colour, on light and on dark backgrounds */
  inkOnLight: string
  inkOnDark: string
}

/** All colours derived from the brand colour `#rrggbb`. Each has enough contrast (WCAG AA) for any brand colour. */
export function computeBrandColors(brand: string): BrandColors {
  const deep = mixColors(brand, '#0b0e14', 0.35)
  return {
    brand,
    onBrand: pickTextColor(brand),
    deep,
    onDeep: pickTextColor(deep),
    inkOnLight: adjustForContrast(LIGHT_BACKGROUND, brand, MIN_TEXT_CONTRAST),
    inkOnDark: adjustForContrast(DARK_BACKGROUND, brand, MIN_TEXT_CONTRAST),
  }
}

export function buildBrandStyle(brand: string): string {
  const colors = computeBrandColors(brand)
  const light = `--brand:${colors.brand};--on-brand:${colors.onBrand};--ink:${colors.inkOnLight}`
  const dark = `--brand:${colors.deep};--on-brand:${colors.onDeep};--ink:${colors.inkOnDark}`
  return `:root{${light}}@media screen and (prefers-color-scheme:dark){:root{${dark}}}`
}
