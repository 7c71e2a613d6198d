/** Advance widths of Verdana, in thousandths of the font size, from space to tilde. */
const WIDTHS = [
  352, 394, 459, 818, 636, 1076, 727, 269, 454, 454, 636, 818, 364, 454, 364, 454, 636, 636, 636, 636, 636, 636, 636,
  636, 636, 636, 454, 454, 818, 818, 818, 545, 1000, 684, 686, 698, 771, 632, 575, 775, 751, 421, 455, 693, 557, 843,
  748, 787, 603, 787, 695, 684, 616, 732, 684, 989, 685, 615, 685, 454, 454, 454, 818, 636, 636, 601, 623, 521, 623,
  596, 352, 623, 633, 274, 344, 592, 274, 973, 633, 607, 623, 623, 427, 521, 394, 633, 592, 818, 592, 592, 525, 635,
  454, 635, 818,
]
const FIRST = 0x20
/**
 * Characters outside the table: Latin letters with marks, Greek and Cyrillic; from `FIRST_SQUARE` on, characters as
 * wide as high.
 */
const LETTER = 690
const SQUARE = 1_000
const FIRST_SQUARE = 0x1100

/** The width of a text at `sizePx`, in pixels. */
export function measureText(text: string, sizePx: number): number {
  const thousandths = [...text].reduce((sum, sign) => sum + getCharacterWidth(sign.codePointAt(0) ?? FIRST), 0)
  return (thousandths * sizePx) / 1_000
}

const getCharacterWidth = (code: number) => WIDTHS[code - FIRST] ?? (code < FIRST_SQUARE ? LETTER : SQUARE)
