import t from 'tap'
import { computeContrast, MIN_TEXT_CONTRAST } from '../../../control-plane/foundation/web/html/contrast.ts'
import {
  buildBrandStyle,
  computeBrandColors,
  DARK_BACKGROUND,
  LIGHT_BACKGROUND,
} from '../../../control-plane/pages/templates/document/brand-style.ts'

const BRANDS = [
  '#000000',
  '#ffffff',
  '#2563eb',
  '#ffd400',
  '#e11d48',
  '#0f766e',
  '#777777',
  '#00ff00',
  '#0b0e14',
  '#fafafa',
]

t.test('Every brand colour gives enough contrast in both colour schemes', async t => {
  for (const brand of BRANDS) {
    const colors = computeBrandColors(brand)
    t.ok(
      computeContrast(colors.onBrand, colors.brand) >= MIN_TEXT_CONTRAST,
      `${brand}: on the surface in the brand colour`,
    )
    t.ok(computeContrast(colors.onDeep, colors.deep) >= MIN_TEXT_CONTRAST, `${brand}: on the darker surface`)
    t.ok(
      computeContrast(colors.inkOnLight, LIGHT_BACKGROUND) >= MIN_TEXT_CONTRAST,
      `${brand}: as a link on light ground`,
    )
    t.ok(
      computeContrast(colors.inkOnDark, DARK_BACKGROUND) >= MIN_TEXT_CONTRAST,
      `${brand}: as a link on a dark background`,
    )
  }
})

t.test('A colour with enough contrast is used unchanged', async t => {
  t.match(buildBrandStyle('#2563eb'), ':root{--brand:#2563eb;--on-brand:#ffffff;--ink:#2563eb}')
})
