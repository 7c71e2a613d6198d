import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { computeContrast } from '../../../control-plane/foundation/web/html/contrast.ts'
import { ROOT } from '../../rules/source.ts'

const STYLES = join(ROOT, 'control-plane/dashboard/browser/styles')
const TOKENS = readFileSync(join(STYLES, 'tokens.css'), 'utf8')

/** The colours of the blocks that match, as `#rrggbb` by name. */
function colorsIn(css: string): Record<string, string> {
  const found = [...css.matchAll(/--([\w-]+):\s*#([0-9a-f]{3}|[0-9a-f]{6});/g)]
  return Object.fromEntries(
    found.map(([, name, digits]) => [
      name!,
      `#${digits!.length === 3 ? [...digits!].map(digit => digit + digit).join('') : digits}`,
    ]),
  )
}

const [before, after] = TOKENS.split('@media (prefers-color-scheme: dark)') as [string, string]
/** Dark as the system has it, and by choice. */
const [bySystem, byChoice] = after.split(':root[data-theme="dark"]') as [string, string]
const SCHEMES = { light: colorsIn(before), dark: { ...colorsIn(before), ...colorsIn(bySystem) } }

t.test('Dark by choice has the colours of dark by the system', t => {
  t.ok(Object.keys(colorsIn(bySystem)).length > 10)
  t.same(colorsIn(byChoice), colorsIn(bySystem))
  t.match(byChoice, /color-scheme: dark;/)
  t.match(bySystem, ':root:not([data-theme="light"])', 'light by choice stays light')
  t.end()
})

const BACKGROUNDS = ['ground', 'sunken']
const INKS = ['ink', 'soft', 'down', 'degraded', 'accent', 'recovered']
const FILLS = ['down-fill', 'degraded-fill', 'healthy']
/** Lines between parts, which say nothing. */
const DECORATION = ['line']

t.test('Inks have a contrast of 4.5 and fills of 3.3 on both grounds, in light and dark', t => {
  for (const [scheme, colors] of Object.entries(SCHEMES)) {
    for (const background of BACKGROUNDS) {
      const getContrast = (name: string) => computeContrast(colors[name]!, colors[background]!)
      for (const name of INKS)
        t.ok(getContrast(name) >= 4.5, `${scheme}: ${name} on ${background} ${getContrast(name)}`)
      for (const name of FILLS)
        t.ok(getContrast(name) >= 3.3, `${scheme}: ${name} on ${background} ${getContrast(name)}`)
      // borders of controls: WCAG 2.2, 1.4.11
      const edge = getContrast('strong-line')
      t.ok(edge >= 3, `${scheme}: strong-line on ${background} ${edge}`)
    }
    const onAccent = computeContrast(colors['on-accent']!, colors.accent!)
    t.ok(onAccent >= 4.5, `${scheme}: on-accent ${onAccent}`)
  }
  t.end()
})

t.test('Every colour has a rule for its contrast, and is different in dark', t => {
  const named = [...BACKGROUNDS, ...INKS, ...FILLS, ...DECORATION, 'strong-line', 'on-accent'].sort()
  t.same(Object.keys(SCHEMES.light).sort(), named)
  for (const name of named) t.not(SCHEMES.dark[name], SCHEMES.light[name], name)
  t.end()
})
