import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { createRegex, findRegexProblem } from '../../../shared/assertions/regex.ts'
import { estimateSize } from '../../../shared/assertions/regex-size.ts'

const MAX_SIZE = 4_000
const LAST = '\u{1e942}'

/** Each takes 30 ms to half a second to compile unless it is refused by its text. */
const EXPENSIVE = [
  'a{1000}'.repeat(142),
  `(?:(?:${'ab'.repeat(400)}){30}){33}`,
  `(?i)[${`B-${LAST}`.repeat(200)}]`,
  `(?i)[${'B-\\x{1e942}'.repeat(80)}]`,
  `(?i:[${'B-\\x{1e942}'.repeat(80)}])`,
  `(?i)[${'\\pL'.repeat(320)}]`,
  `[${'\\pL\\PN'.repeat(160)}]`,
  Array.from({ length: 240 }, () => '\\pL').join('|'),
  `(?<name>${'[^\\p{Greek}\\pL]'.repeat(60)})`,
]

const USEFUL = [
  '^ok$',
  '(?i)(error|exception|fatal|panic|stack trace)',
  '"version":\\s*"(\\d+)\\.(\\d+)"',
  '[a-f0-9]{8}-([a-f0-9]{4}-){3}[a-f0-9]{12}',
  '^(?:[a-z0-9_.-]{1,20}@[a-z]{1,20}){10}$',
  '(?i)[а-яё]+\\s[\\p{L}]{2,40}',
  '[[:alpha:]]{3,9}[]a]{5}[^]a]',
  '\\Qa{1000}{1000}\\E',
  '\\x{41}\\x41\\101\\.{3}',
  '(?P<year>\\d{4})(?s).*',
  '(?s).{0,900}',
  '(abc|abd|abe){100}',
]

t.test('An expression that takes long to compile is refused by its text', async t => {
  for (const pattern of EXPENSIVE) {
    t.match(findRegexProblem(pattern), /^the expression is too large/, pattern.slice(0, 60))
    t.ok(estimateSize(pattern, MAX_SIZE) > MAX_SIZE)
  }
})

t.test('Many expressions that meet many texts need little memory', async t => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  let state = 12_345
  const text = Array.from({ length: 20_000 }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >> 16) & 1 ? 'a' : 'b'
  }).join('')
  collect()
  const before = process.memoryUsage().heapUsed
  const kept = Array.from({ length: 15 }, (_, i) => createRegex(`[ab]*a[ab]{${30 + i}}[^b]$`))
  for (const regex of kept) for (const part of [text, [...text].toReversed().join('')]) regex.test(part)
  collect()
  const grownMib = (process.memoryUsage().heapUsed - before) / 2 ** 20
  t.ok(grownMib < 30, `${grownMib.toFixed(1)} MiB for ${kept.length} expressions`)
})

t.test('An expression of a normal size is accepted', async t => {
  for (const pattern of USEFUL) t.equal(findRegexProblem(pattern), null, pattern)
})

t.test('An invalid expression has RE2’s message, and the estimate ends', async t => {
  for (const pattern of ['(', '[', '[a-', 'a)', '\\', '\\p{', '(?P<', '[[:alpha:', '\\x{', 'a{1001}']) {
    t.ok(estimateSize(pattern, MAX_SIZE) <= MAX_SIZE)
    t.match(findRegexProblem(pattern), /^error parsing regexp/, pattern)
  }
  t.match(findRegexProblem('a'.repeat(1_001)), /longer than 1000 characters/)
})
