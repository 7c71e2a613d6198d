/** The minimum contrast of texts in WCAG 2.2 AA. */
export const MIN_TEXT_CONTRAST = 4.5

const STEPS = 100

type Rgb = [number, number, number]

/** WCAG's contrast ratio of two colours `#rrggbb`, 1 to 21. */
export function computeContrast(one: string, other: string): number {
  const [dark, light] = [computeLuminance(one), computeLuminance(other)].sort((a, b) => a - b) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

/** Black or white, the one with more contrast on `background`. One of them reaches 4.5 on any colour. */
export const pickTextColor = (background: string): '#000000' | '#ffffff' =>
  computeContrast('#ffffff', background) >= MIN_TEXT_CONTRAST ? '#ffffff' : '#000000'

/**
 * `color` itself if its contrast on `background` is sufficient, otherwise the nearest mix with black or white (the opposite
 * of the background) that has the contrast `atLeast`.
 */
export function adjustForContrast(background: string, color: string, atLeast: number): string {
  const opposite =
    computeContrast('#ffffff', background) > computeContrast('#000000', background) ? '#ffffff' : '#000000'
  for (let step = 0; step <= STEPS; step++) {
    const mixed = mixColors(color, opposite, step / STEPS)
    if (computeContrast(mixed, background) >= atLeast) return mixed
  }
  return opposite
}

/** `share` of `other` in `color`, 0 to 1. */
export function mixColors(color: string, other: string, share: number): string {
  const to = parseRgb(other)
  return formatHex(parseRgb(color).map((part, i) => part + ((to[i] ?? 0) - part) * share) as Rgb)
}

function computeLuminance(color: string): number {
  const [red, green, blue] = parseRgb(color).map(part => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as Rgb
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const parseRgb = (color: string): Rgb => [1, 3, 5].map(at => Number.parseInt(color.slice(at, at + 2), 16)) as Rgb
const formatHex = (rgb: Rgb) => `#${rgb.map(part => Math.round(part).toString(16).padStart(2, '0')).join('')}`
