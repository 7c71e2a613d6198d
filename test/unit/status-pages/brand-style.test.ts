import t from 'tap'
import { brandColors, brandStyle, DARK_GROUND, LIGHT_GROUND } from '../../../control-plane/status-pages/brand-style.ts'
import { contrastOf, TEXT_CONTRAST } from '../../../control-plane/web/contrast.ts'

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

t.test('whatever colour a brand has, everything made of it reads in both schemes', async t => {
  for (const brand of BRANDS) {
    const colors = brandColors(brand)
    t.ok(contrastOf(colors.onBrand, colors.brand) >= TEXT_CONTRAST, `${brand}: on the brand’s surface`)
    t.ok(contrastOf(colors.onDeep, colors.deep) >= TEXT_CONTRAST, `${brand}: on its darker one`)
    t.ok(contrastOf(colors.inkOnLight, LIGHT_GROUND) >= TEXT_CONTRAST, `${brand}: as a link on light ground`)
    t.ok(contrastOf(colors.inkOnDark, DARK_GROUND) >= TEXT_CONTRAST, `${brand}: as a link on dark ground`)
  }
})

t.test('a colour that reads is used as it is', async t => {
  t.match(brandStyle('#2563eb'), ':root{--brand:#2563eb;--on-brand:#ffffff;--ink:#2563eb}')
})
