import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { places, ROOT, sources } from './source.ts'

const SNAKE_CASE = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/
/** Sentences in a value: what happened is named by the words of the field. */
const UNWANTED = /\b(told|said|heard|nobody|seal|sealed|buried|anew|well)\b/

/** Their values are names of loops, which the log has too. */
const LOOPS = /^picket_loop_/

/** The values that docs/metrics.md lists for the labels of a metric. Names of settings, routes, files and loops are none. */
function listDocumentedValues(): { metric: string; value: string }[] {
  const rows = readFileSync(join(ROOT, 'docs/metrics.md'), 'utf8').matchAll(
    /^\| `(\w+)` \| \w+ \| (`.*?) \| (.+) \|$/gm,
  )
  return [...rows].flatMap(([, metric = '', , meaning = '']) =>
    [...meaning.matchAll(/`([^`]+)`/g)]
      .map(([, value = '']) => ({ metric, value }))
      .filter(({ value }) => !LOOPS.test(metric) && !/^[A-Z][A-Z_]+(=|$)|[/ *.{]/.test(value)),
  )
}

t.test('documented values of labels are in snake_case and use words of the field', async t => {
  const values = listDocumentedValues()
  t.ok(values.length > 100)
  const wrong = values.filter(({ value }) => !SNAKE_CASE.test(value) || UNWANTED.test(value.replaceAll('_', ' ')))
  t.same(
    wrong.map(({ metric, value }) => `${metric}: ${value}`),
    [],
  )
})

t.test('values of labels in the code are in snake_case', async t => {
  const wrong = sources('control-plane', 'probe-agent', 'shared')
    .flatMap(file => places(file, /(?<=\.(?:inc|observe|set)\(\{[^}]*: )'[^']*'(?=[^}]*\})/g))
    .filter(place => !SNAKE_CASE.test(place.split("'")[1] ?? ''))
  t.same(wrong, [])
})
