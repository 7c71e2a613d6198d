import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ROOT } from './source.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const numbersIn = (text: string) =>
  [...text.matchAll(/\d[\d,]*(?:\.\d+)?/g)].map(([number]) => number.replaceAll(',', ''))

/** The numbers of each section of docs/benchmarks.md, which the bench writes. */
const sections = new Map(
  read('docs/benchmarks.md')
    .split(/^## /m)
    .map(text => [text.slice(0, text.indexOf('\n')), new Set(numbersIn(text))]),
)

/** What a row of the form `| what | measured | [part](benchmarks.md#part) |` measures and that section does not have. */
function findOtherFigures(row: string): string[] {
  const part = /\]\(benchmarks\.md#([\w-]+)\)/.exec(row)?.[1] ?? ''
  const [what = '', measured = ''] = row.split(' | ')
  const known = new Set([...(sections.get(part) ?? []), ...numbersIn(what)])
  return numbersIn(measured)
    .filter(number => !known.has(number))
    .map(number => `${number} is not in ${part}: ${row}`)
}

for (const path of ['docs/sizing.md', 'docs/scale.md'])
  t.test(`the figures of ${path} are those of the sections of docs/benchmarks.md that it names`, async t => {
    const rows = read(path)
      .split('\n')
      .filter(line => /\| \[[\w-]+\]\(benchmarks\.md#/.test(line))
    t.ok(rows.length > 9)
    t.same(rows.flatMap(findOtherFigures), [])
  })

t.test(
  'each row of measured figures names a section of docs/benchmarks.md, or says that it was measured by hand',
  async t => {
    for (const path of ['docs/sizing.md', 'docs/scale.md']) {
      const tables = read(path).split(/\n\n(?=\|)/)
      const measured = tables.filter(table => /^\|[^\n]*\| measured \|/.test(table))
      t.ok(measured.length > 0)
      const rows = measured
        .flatMap(table => table.split('\n\n')[0]!.split('\n').slice(2))
        .filter(row => row.startsWith('|'))
      t.same(
        rows.filter(row => !/\]\(benchmarks\.md#[\w-]+\) \||\| by hand \|/.test(row)),
        [],
        'each row has its source',
      )
    }
  },
)

t.test('the computations of docs/scale.md use figures of its first table, and sums are right', async t => {
  const [, measured = '', computed = ''] =
    /## What was measured\n([\s\S]*?)\n## ([\s\S]*)/.exec(read('docs/scale.md')) ?? []
  const known = new Set(numbersIn(measured))
  const isKnown = (number: string, line: string) => {
    const earlier = line.slice(0, line.indexOf(`× ${number}`))
    return known.has(number.replaceAll(',', '')) || numbersIn(earlier).includes(number.replaceAll(',', ''))
  }
  const lines = computed.split('\n')
  const factors = lines.flatMap(line =>
    [...line.matchAll(/× ([\d,.]+) (?:µs|B)\b/g)].map(([, number = '']) => ({ line, number })),
  )
  t.ok(factors.length > 9)
  t.same(
    factors.filter(({ line, number }) => !isKnown(number, line)).map(({ line }) => line),
    [],
  )
  for (const [sum, terms = '', total] of computed.matchAll(/([\d.]+(?: \+ [\d.]+)+) = ([\d.]+) µs/g)) {
    t.same(
      numbersIn(terms).filter(number => !known.has(number)),
      [],
      sum,
    )
    t.equal(
      numbersIn(terms).reduce((left, right) => left + Number(right), 0),
      Number(total),
      sum,
    )
  }
})
