import t from 'tap'
import {
  adjustForContrast,
  computeContrast,
  MIN_TEXT_CONTRAST,
  mixColors,
  pickTextColor,
} from '../../../../control-plane/foundation/web/html/contrast.ts'

t.test('The contrast of two colours is that of WCAG', async t => {
  const pairs: [string, string, number][] = [
    ['#000000', '#ffffff', 21],
    ['#ffffff', '#ffffff', 1],
    ['#777777', '#ffffff', 4.48],
    ['#0000ff', '#ffffff', 8.59],
    ['#ff0000', '#000000', 5.25],
  ]
  for (const [one, other, ratio] of pairs) {
    t.equal(Math.round(computeContrast(one, other) * 100) / 100, ratio, `${one} on ${other}`)
    t.equal(computeContrast(one, other), computeContrast(other, one), 'either way round')
  }
})

t.test('Black or white has enough contrast on any colour; white is preferred', async t => {
  for (let step = 0; step < 4096; step++) {
    const color = `#${[step >> 8, (step >> 4) & 15, step & 15].map(part => part.toString(16).repeat(2)).join('')}`
    if (computeContrast(pickTextColor(color), color) < MIN_TEXT_CONTRAST) t.fail(color)
  }
  t.equal(pickTextColor('#2563eb'), '#ffffff')
  t.equal(pickTextColor('#ffd400'), '#000000')
})

t.test('A colour with too little contrast is mixed with black or white until it has enough', async t => {
  const cases: [string, string, string][] = [
    ['#ffffff', '#2563eb', 'stays as it is'],
    ['#ffffff', '#ffd400', 'is darkened'],
    ['#1f2430', '#2563eb', 'is lightened'],
    ['#1f2430', '#000000', 'is lightened from nothing'],
    ['#ffffff', '#ffffff', 'is darkened from all'],
  ]
  for (const [background, color, what] of cases) {
    const readable = adjustForContrast(background, color, MIN_TEXT_CONTRAST)
    t.ok(computeContrast(readable, background) >= MIN_TEXT_CONTRAST, `${color} on ${background} ${what}: ${readable}`)
    t.equal(readable === color, what === 'stays as it is')
  }
  t.ok(
    computeContrast(adjustForContrast('#ffffff', '#ffd400', MIN_TEXT_CONTRAST), '#ffffff') < 4.7,
    'no further than it has to',
  )
  t.equal(mixColors('#000000', '#ffffff', 0.5), '#808080')
})
