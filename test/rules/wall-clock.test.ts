import t from 'tap'
import { blankParts } from './lexer.ts'
import { at, sources } from './source.ts'

/** A read of a real clock; `time.monotonicMs()` is virtual time. */
const CLOCK =
  /\b(?:Date|performance)\.now\(\)|\bnew Date\(\)(?:\.getTime\(\))?|\bhrtime(?:\.bigint)?\(|\bprocess\.uptime\(|(?<![\w.])monotonicMs\(\)/
const REMAINING = new RegExp(` - (?:${CLOCK.source})`)
const ELAPSED = new RegExp(`(?:${CLOCK.source}) - |${REMAINING.source}|\\bshortestMs\\(`)

const COMPARISON = / (?<operator>[<>])=? /g
const EQUALITY = /\bt\.(?:equal|same|strictSame|match)\((?<text>[^;]*?)\n?\)\n/g
/** What ends an operand, apart from a bracket of what surrounds it. */
const SEPARATOR = /^(?:&&|\|\||=>|[,;?:{}]|\breturn\b|[^=!<>]= )/

/** The end of the operand at `start`; `step`: its direction. */
function findOperandEnd(code: string, start: number, step: 1 | -1): number {
  const [opening, closing] = step === 1 ? ['([', ')]'] : [')]', '([']
  let depth = 0
  let index = start
  for (; index >= 0 && index < code.length; index += step) {
    if (depth === 0 && SEPARATOR.test(code.slice(index, index + 6))) break
    if (opening.includes(code[index]!)) depth++
    else if (closing.includes(code[index]!) && depth-- === 0) break
  }
  return index
}

/** The names of values, and of functions that return them, that are made of a time that has passed. */
function listMeasured(code: string): string[] {
  const declarations = [...code.matchAll(/^( *)(?:export )?(?:const|let) (\w+)[^=\n]* = (.*(?:\n\1 +.*)*)/gm)]
  const select = (pattern: RegExp) =>
    declarations.filter(([, , , text = '']) => pattern.test(text)).map(([, , name = '']) => name)
  const moments = select(new RegExp(`^(?:${CLOCK.source})$`)).join('|')
  const elapsed = moments === '' ? ELAPSED : new RegExp(`${ELAPSED.source}|\\b(?:${moments}) - (?:${moments})\\b`)
  const names = select(elapsed)
  const calls = new RegExp(`^(?:await )?(?:${names.join('|')})\\(`)
  const results = names.length === 0 ? [] : declarations.filter(([, , , text = '']) => calls.test(text))
  const between = moments === '' ? [] : [`(?:${moments}) - (?:${moments})`]
  return [...names, ...results.map(([, , name = '']) => name), ...between]
}

/** Comparisons by which a test fails on a slow machine: a time has to be short. Two measured times may be compared. */
function findTimeBounds({ path, text }: { path: string; text: string }): string[] {
  if (!CLOCK.test(text) && !ELAPSED.test(text)) return []
  const code = blankParts(text, path.endsWith('.tsx'))
  const elapsed = [ELAPSED.source, ...listMeasured(code).map(name => `\\b${name}\\b`)].join('|')
  const measured = new RegExp(`${CLOCK.source}|${elapsed}`)
  const comparisons = [...code.matchAll(COMPARISON)].flatMap(match => {
    const [start, end] = [findOperandEnd(code, match.index - 1, -1) + 1, findOperandEnd(code, match.index + 3, 1)]
    const sides = [code.slice(start, match.index), code.slice(match.index + match[0].length, end)]
    const [small = '', large = ''] = match.groups!.operator === '<' ? sides : sides.reverse()
    // work that keeps the process busy for a time
    if (/\bwhile \($/.test(code.slice(0, start))) return []
    const isBound = measured.test(small) !== measured.test(large) && (measured.test(small) || REMAINING.test(large))
    return isBound ? [{ start, text: code.slice(start, end) }] : []
  })
  const equalities = [...code.matchAll(EQUALITY)]
    .filter(match => new RegExp(elapsed).test(match.groups!.text!))
    .map(match => ({ start: match.index, text: match[0] }))
  return [...comparisons, ...equalities].map(({ start, text }) => {
    const line = code.slice(0, start).split('\n').length
    return at(path, line, text.trim().replace(/\s+/g, ' '))
  })
}

/** Files that measure time for another purpose. */
const EXCEPTIONS: Record<string, string> = {
  'test/unit/foundation/platform/coalesced-timers.test.ts': 'sets its timers again when the machine stalled',
}

t.test('no unit test compares a measured time with a fixed bound', async t => {
  const found = sources('test/unit').map(file => ({ path: file.path, bounds: findTimeBounds(file) }))
  t.same(
    found.filter(({ path }) => !(path in EXCEPTIONS)).flatMap(({ bounds }) => bounds),
    [],
  )
  t.same(
    found.filter(({ path, bounds }) => path in EXCEPTIONS && bounds.length > 0).map(({ path }) => path),
    Object.keys(EXCEPTIONS),
    'each exception is needed',
  )
})

t.test('bounds of the time are found; a time that must pass and a ratio of two times are allowed', async t => {
  const count = (...lines: string[]) =>
    findTimeBounds({ path: 'a.test.ts', text: `const startedMs = performance.now()\n${lines.join('\n')}\n` }).length
  const refused = [
    ['t.ok(performance.now() - startedMs < 100)'],
    ['t.ok(100 > performance.now() - startedMs)'],
    ['t.ok((Date.now() - startedMs) / 1_000 <= MAX_SECONDS, `slow`)'],
    ['t.ok(isDone && performance.now() < startedMs + 100)'],
    ['const tookMs = performance.now() - startedMs', 't.ok(', '  tookMs < 100,', '  text,', ')'],
    ['const took = () => Math.round(Date.now() - startedMs)', 'if (took() > 100) t.fail()', 't.ok(took() < 100)'],
    ['const measure = (work: Work) =>', '  shortestMs(work)', 'const ms = measure(run)', 't.ok(ms < 5)'],
    ['t.ok(untilMs - Date.now() > 500)'],
    ['const endedMs = performance.now()', 't.ok(endedMs - startedMs < 100)'],
    ['const endedMs = performance.now()', 'const tookMs = endedMs - startedMs', 't.ok(tookMs < 100)'],
    ['t.ok(new Date().getTime() - before < 100)'],
    ['const days = Math.round((Date.parse(end) - Date.now()) / DAY_MS)', 't.equal(days, 30)'],
    ['t.equal(Math.round((Date.parse(end) - Date.now()) / 86_400_000), 30)'],
  ]
  const accepted = [
    ['t.ok(performance.now() - startedMs >= 100)'],
    ['const ms = shortestMs(run)', 'const ordinaryMs = shortestMs(other)', 't.ok(ms < 1_000 * ordinaryMs)'],
    ['while (performance.now() < startedMs + 100);'],
    ['t.ok(list.length < 5 && time.monotonicMs() < 100)', 't.equal(read(Date.now()), 5)'],
    ['// performance.now() - startedMs < 100', "t.equal('performance.now() - startedMs < 100', text)"],
  ]
  t.same(
    refused.filter(lines => count(...lines) !== 1),
    [],
  )
  t.same(
    accepted.filter(lines => count(...lines) > 0),
    [],
  )
})
