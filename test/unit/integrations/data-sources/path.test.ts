import fc from 'fast-check'
import t from 'tap'
import {
  createSearch,
  findMatches,
  getValueAt,
} from '../../../../control-plane/integrations/data-sources/document/matches.ts'
import {
  bindPath,
  type DocumentPath,
  formatPath,
  parsePath,
} from '../../../../control-plane/integrations/data-sources/document/path.ts'

const DOCUMENT = JSON.parse(`{
  "status": "ok",
  "services": {
    "web": { "status": "up", "checks": [{ "ms": 12 }, { "ms": 40 }] },
    "api.v2": { "status": "down", "checks": [] },
    "__proto__": { "status": "up" },
    "constructor": { "status": "up" }
  },
  "queues": [{ "name": "mail", "size": 3 }, { "name": "jobs", "size": 90 }],
  "a*b": 1, "empty": {}, "": 2, "nothing": null
}`)

const parseValidPath = (text: string): DocumentPath => {
  const path = parsePath(text)
  if ('problem' in path) throw new Error(`${text} ${path.problem}`)
  return path
}
const found = (text: string, document: unknown = DOCUMENT) =>
  [...findMatches(document, parseValidPath(text), createSearch())].map(({ key, value }) => [key, value])

t.test('A path matches each of its places with a distinct key', async t => {
  const cases: Record<string, [string, unknown][]> = {
    status: [['status', 'ok']],
    '$.status': [['status', 'ok']],
    $: [['$', DOCUMENT]],
    'services.web.status': [['web', 'up']].map(([, value]) => ['status', value]),
    'services.*.status': [
      ['__proto__', 'up'],
      ['api.v2', 'down'],
      ['constructor', 'up'],
      ['web', 'up'],
    ],
    'services[*].status': [
      ['__proto__', 'up'],
      ['api.v2', 'down'],
      ['constructor', 'up'],
      ['web', 'up'],
    ],
    "services['api.v2'].status": [['status', 'down']],
    '$["services"]["api.v2"].status': [['status', 'down']],
    'queues[1].size': [['size', 90]],
    'queues.1.size': [['size', 90]],
    'queues.*.size': [
      ['0', 3],
      ['1', 90],
    ],
    'queues[*].*': [
      ['0.name', 'mail'],
      ['0.size', 3],
      ['1.name', 'jobs'],
      ['1.size', 90],
    ],
    'services.*.checks[*].ms': [
      ['web.0', 12],
      ['web.1', 40],
    ],
    '["a*b"]': [['a*b', 1]],
    '[""]': [['', 2]],
    nothing: [['nothing', null]],
    'nothing.more': [],
    'status.length': [],
    'queues.length': [],
    'queues[7].size': [],
    'services[0]': [],
    'empty.*': [],
    'services.web.toString': [],
    __proto__: [],
    'constructor.prototype': [],
    'services.__proto__.status': [['status', 'up']],
  }
  for (const [path, expected] of Object.entries(cases)) t.same(found(path), expected, path)
})

t.test('An invalid path is refused with the position and the reason', async t => {
  const cases: Record<string, RegExp> = {
    '': /must not be empty/,
    '  ': /must not be empty/,
    '.status': /character 1: keys must be separated by dots/,
    'a..b': /character 2: recursive descent/,
    '$..b': /character 2: recursive descent/,
    'a.': /character 2: the path ends with a dot/,
    'a[?(@.b)]': /character 2: filters/,
    'a[0:2]': /character 2: slices/,
    'a[-1]': /character 2: an index must be 0 or greater/,
    'a[b]': /character 2: brackets must contain an index, \* or a quoted key/,
    'a[0': /character 2: brackets/,
    'a[0]b': /character 5: keys must be separated by dots/,
    'a*': /character 2: \* must be a step of its own/,
    'a.b*c': /\* must be a step of its own/,
    'a"b"': /character 2: keys must be separated by dots/,
    'a.*.*.*.*.*': /at most 4 wildcards/,
    [Array(33).fill('a').join('.')]: /at most 32 steps/,
    ['a'.repeat(501)]: /at most 500 characters/,
  }
  for (const [text, expected] of Object.entries(cases)) {
    const path = parsePath(text)
    t.match('problem' in path ? path.problem : 'no problem', expected, text)
  }
})

t.test('A formatted path parses to the same path, and bound wildcards are replaced', async t => {
  for (const text of ['a', 'a.b[0].*', '["a.b"].c', 'Straße.größe', '[*]', '$']) {
    const path = parseValidPath(text)
    t.same(parseValidPath(formatPath(path)), path, text)
  }
  t.equal(formatPath(bindPath(parseValidPath('limits.*[*].max'), ['a.b', 3])), 'limits["a.b"][3].max')
})

t.test('The order of keys in a document does not change the matches', async t => {
  t.same(found('*', { b: 1, a: 2, 10: 3, 9: 4 }), found('*', { 9: 4, a: 2, 10: 3, b: 1 }))
})

t.test('Any path on any document throws no error and matches no inherited property', async t => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.string({ maxLength: 60 }), (document, text) => {
      const path = parsePath(text)
      if ('problem' in path) return path.problem.length > 0
      for (const { value } of findMatches(document, path, createSearch())) {
        if (typeof value === 'function' || value === Object.prototype) return false
      }
      return true
    }),
  )
  const anyKey = fc.array(fc.oneof(fc.string(), fc.nat(9), fc.constantFrom('__proto__', 'a.b', "it's", '"', '\\')), {
    maxLength: 8,
  })
  fc.assert(
    fc.property(anyKey, steps => {
      t.same(parseValidPath(formatPath(steps)), steps)
    }),
  )
})

t.test('A key that is too long does not match, and counts once when the path leads through it', async t => {
  const long = 'k'.repeat(201)
  const cases: [document: unknown, path: string, matches: string[], longKeys: number][] = [
    [{ [long]: 1, a: 1 }, '*', ['a'], 1],
    [{ [long]: { b: 1 }, a: { b: 1 } }, '*.b', ['a'], 1],
    [{ [long]: { c: 1 }, a: { b: 1 } }, '*.b', ['a'], 0],
    [{ [long]: { b: 1, c: 1 } }, '*.*', [], 1],
    [{ [long]: { [long]: 1, c: 1 } }, '*.*', [], 1],
    [{ [long]: 5 }, '*.*', [], 0],
    [{ a: { [long]: 1, b: 1 }, b: { [long]: 1 } }, '*.*', ['a.b'], 2],
    [{ ['k'.repeat(200)]: 1 }, '*', ['k'.repeat(200)], 0],
    [
      { ['k'.repeat(100)]: { ['l'.repeat(99)]: 1, ['m'.repeat(100)]: 1 } },
      '*.*',
      [`${'k'.repeat(100)}.${'l'.repeat(99)}`],
      1,
    ],
    [[[1]], '*.*', ['0.0'], 0],
  ]
  for (const [document, path, matches, longKeys] of cases) {
    const search = createSearch()
    const keys = [...findMatches(document, parseValidPath(path), search)].map(({ key }) => key)
    t.same([keys, search.longKeys], [matches, longKeys], `${path} in ${JSON.stringify(document).slice(0, 80)}`)
  }
})

/** The visits that a search of a document with this path needs. */
const countVisits = (document: unknown, path: string) => {
  const search = createSearch()
  const before = search.visitsLeft
  const matches = [...findMatches(document, parseValidPath(path), search)].length
  return { visits: before - search.visitsLeft, matches }
}

t.test('Long keys use up the visits of a search, and what is below a key that is too long is not searched', async t => {
  const thousand = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${i}`, 1]))
  t.same(countVisits({ ['a'.repeat(50_000)]: thousand }, '*.*'), { visits: 2, matches: 0 })
  t.same(countVisits({ ['a'.repeat(50_000)]: { b: thousand } }, '*.*.*'), { visits: 3, matches: 0 })
  t.same(countVisits({ a: thousand }, '*.*'), { visits: 1_001, matches: 1_000 })
  const { visits, matches } = countVisits({ ['a'.repeat(190)]: thousand }, '*.*')
  t.equal(matches, 1_000)
  t.ok(visits > 4_000, `${visits} visits of keys with more than 190 characters`)
})

t.test('A document of half a million keys, or 10,000 levels, is searched in bounded time', async t => {
  const wide = Object.fromEntries(Array.from({ length: 500_000 }, (_, i) => [`key-${i}`, { a: { b: i } }]))
  const search = createSearch()
  let matches = 0
  for (let path = 0; path < 50; path++) for (const _ of findMatches(wide, parseValidPath('*.*.*'), search)) matches++
  t.ok(search.isExhausted)
  t.ok(matches < 100_000)
  let deep: unknown = 1
  for (let i = 0; i < 10_000; i++) deep = { a: deep }
  t.ok(getValueAt(deep, parseValidPath(Array(32).fill('a').join('.'))))
})
