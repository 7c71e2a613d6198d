import {
  adjustForContrast,
  MIN_TEXT_CONTRAST,
  mixColors,
  pickTextColor,
} from '../../../foundation/web/html/contrast.ts'

/** The darkest ground of a light page and the lightest of a dark one: what reads there reads on all others. */
export const LIGHT_BACKGROUND = '#f2f4f7'
export const DARK_BACKGROUND = '#1f2430'

export type BrandColors = {
  /** a surface in the brand's colour, and what is written on it */
  brand: string
  onBrand: string
  /** the same a shade darker, for dark pages */
  deep: string
  onDeep: string
  /** links and signs in the brand's colour, as near as they read, on light and on dark ground */
  inkOnLight: string
  inkOnDark: string
}

/** Everything that is made of the one colour `#rrggbb` that a customer chose; all of it reads (WCAG AA), whatever it is. */
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
