import { inkOn, mix, readableOn, TEXT_CONTRAST } from '../web/contrast.ts'

/** The darkest ground of a light page and the lightest of a dark one: what reads there reads on all others. */
export const LIGHT_GROUND = '#f2f4f7'
export const DARK_GROUND = '#1f2430'

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
export function brandColors(brand: string): BrandColors {
  const deep = mix(brand, '#0b0e14', 0.35)
  return {
    brand,
    onBrand: inkOn(brand),
    deep,
    onDeep: inkOn(deep),
    inkOnLight: readableOn(LIGHT_GROUND, brand, TEXT_CONTRAST),
    inkOnDark: readableOn(DARK_GROUND, brand, TEXT_CONTRAST),
  }
}

export function brandStyle(brand: string): string {
  const colors = brandColors(brand)
  const light = `--brand:${colors.brand};--on-brand:${colors.onBrand};--ink:${colors.inkOnLight}`
  const dark = `--brand:${colors.deep};--on-brand:${colors.onDeep};--ink:${colors.inkOnDark}`
  return `:root{${light}}@media screen and (prefers-color-scheme:dark){:root{${dark}}}`
}
