import fc from 'fast-check'
import t from 'tap'
import { parseDocument } from '../../../../control-plane/integrations/data-sources/document/document.ts'
import {
  collectMatches,
  evaluate,
  formatChildKey,
  MAX_CHILDREN,
} from '../../../../control-plane/integrations/data-sources/evaluation/evaluate.ts'
import { parseNameTemplate } from '../../../../control-plane/integrations/data-sources/evaluation/name-template.ts'

const NOW = new Date('2026-08-01T12:00:00Z')
const NONE = new Map()

const buildField = (path: string, nameTemplate: string, id = path) => ({
  ...{ id, path, nameTemplate },
  ...{ ruleType: 'truthy' as const, ruleConfig: {}, degradedRuleConfig: null },
})
const evaluated = (root: unknown, fields = [buildField('*', '{{key}}')]) =>
  evaluate(root, collectMatches(root, fields), NOW, NONE)
const names = (document: unknown, path: string, template: string) =>
  evaluated(document, [buildField(path, template)]).children.map(({ name }) => name)

t.test('A template is filled with the key, the value and what each wildcard matched', async t => {
  const document = { eu: { web: 'ok', 'api.v2': 'slow' } }
  t.same(names(document, '*.*', '{{key.2}} in {{key.1}}: {{value}}'), ['api.v2 in eu: slow', 'web in eu: ok'])
  t.same(names(document, '*.*', '{{ key }}'), ['eu["api.v2"]', 'eu.web'])
  t.same(names(document, 'eu.web', 'The {{key}} server'), ['The web server'])
  t.same(names({ a: [1, 2], b: { c: 1 }, d: null }, '*', '{{value}}'), ['a list of 2', 'an object', 'null'])
})

t.test('A name is always one line of 1-100 characters', async t => {
  const document = { a: 'x'.repeat(1_000), b: 'two\r\nlines\u202e\u0000', c: '', d: '\ud800', e: '👍'.repeat(200) }
  t.same(names(document, '*', '{{value}}'), [
    `${'x'.repeat(99)}…`,
    'two lines \ufffd',
    'c',
    '\ufffd',
    `${'👍'.repeat(99)}…`,
  ])
  t.same(names({ '': 0 }, '*', '{{key}}'), ['[""]'])
})

t.test('Unknown placeholders and single braces are refused', async t => {
  const cases: [string, number, RegExp][] = [
    ['{{name}}', 1, /contains \{\{name\}\}; accepted are \{\{key\}\}/],
    ['{{key.0}}', 1, /contains \{\{key.0\}\}, but the path has 1 wildcard \(the first is 1\)/],
    ['{{key.2}}', 1, /the path has 1 wildcard/],
    ['{{key.1}}', 0, /the path has no wildcards/],
    ['{{}}', 1, /contains \{\{.*\}\}; accepted/],
    ['{key}', 1, /may use braces only for/],
    ['{{key', 1, /may use braces only for/],
    ['key}}', 1, /may use braces only for/],
    ['{{{key}}}', 1, /may use braces only for/],
    ['{{key}}{', 1, /may use braces only for/],
    ['{{__proto__}}', 1, /contains \{\{.*\}\}; accepted/],
  ]
  for (const [text, wildcards, expected] of cases) {
    const template = parseNameTemplate(text, wildcards)
    t.match('problem' in template ? template.problem : 'no problem', expected, text)
  }
})

t.test('Paths begin below root_path, and a document without it, or with null there, is a failure', async t => {
  const body = Buffer.from('{"data":{"items":{"a":1},"list":null}}')
  const read = (rootPath: string | null) => parseDocument({ body, headers: null }, rootPath)
  t.same(read('$.data.items'), { document: { a: 1 } })
  t.same(read('data.items.a'), { document: 1 })
  t.match(read('$'), { document: { data: {} } })
  const message = 'root_path result.items does not exist in the document'
  t.match(read('result.items'), { failure: { code: 'no_root', message, isOurFault: false } })
  t.match(read('data.list'), { failure: { message: 'root_path data.list is null in the document' } })
})

t.test('Notes report paths without a match and keys that are too long', async t => {
  const cases: [unknown, string, RegExp][] = [
    [{ a: 1 }, 'other.*', /^other\.\* matches nothing in the document$/],
    [{ ['k'.repeat(201)]: 1, a: 1 }, '*', /^\* matches keys that are left out: a key can have at most 200 characters$/],
    [{ ['k'.repeat(201)]: { a: 1 } }, '*.*', /^\*\.\* matches keys that are left out/],
    [{ ['k'.repeat(201)]: 1 }, '*.*', /^\*\.\* matches nothing in the document$/],
    [{ ['\u0001'.repeat(100)]: { a: 1 } }, '*.*', /^\*\.\* matches keys that are left out/],
  ]
  for (const [document, path, note] of cases) t.match(evaluated(document, [buildField(path, 'x')]).notes, [note])
})

t.test('A source has at most 200 children, which do not depend on the order of keys in the document', async t => {
  const keys = Array.from({ length: 300 }, (_, i) => `key-${i}`)
  const buildDocument = (ordered: string[]) => Object.fromEntries(ordered.map(key => [key, 1]))
  const first = evaluated(buildDocument(keys))
  t.equal(first.children.length, MAX_CHILDREN)
  t.match(first.notes, [/at most 200 monitors/])
  t.equal(first.keys, 300)
  t.same(evaluated(buildDocument(keys.toReversed())), first)
  const two = evaluated(buildDocument(keys.slice(0, 150)), [buildField('*', 'x', 'one'), buildField('*', 'y', 'two')])
  t.equal(two.children.filter(({ fieldId }) => fieldId === 'two').length, 50)
  t.equal(two.keys, 300, 'of all fields')
})

t.test('A document with too many keys keeps the children that the source has, and then the first others', async t => {
  const keys = Array.from({ length: 300 }, (_, i) => `key-${1_000 + i}`)
  const document = Object.fromEntries(keys.map(key => [key, 1]))
  const field = buildField('*', 'x')
  const known = new Set(['key-1299', 'key-1250', 'gone'].map(key => formatChildKey({ fieldId: field.id, key })))
  const { children, keys: count } = evaluate(document, collectMatches(document, [field], known), NOW, NONE)
  t.same(
    children.map(({ key }) => key),
    [...keys.slice(0, 198), 'key-1250', 'key-1299'],
  )
  t.equal(count, 300)
})

t.test('Keys that become equal when they are stored give one child', async t => {
  const document = { ['k'.repeat(201)]: 1, 'a\u0000': 1, 'a\ufffd': 1, b: 1 }
  t.same(
    evaluated(document).children.map(({ key }) => key),
    ['a\ufffd', 'b'],
  )
})

t.test('Every child of any document can be stored and has a unique key', async () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), document => {
      const { children } = evaluated(document, [buildField('*', '{{key}}'), buildField('*.*', '{{value}} {{key.2}}')])
      const texts = JSON.stringify(children)
      const ids = new Set(children.map(({ fieldId, key }) => `${fieldId} ${key}`))
      return ids.size === children.length && !/\\u0000|\\ud[89a-f]/.test(texts)
    }),
  )
})

t.test('A document of 5 MiB with 50 fields is evaluated in bounded time', async t => {
  const wide = Object.fromEntries(Array.from({ length: 300_000 }, (_, i) => [`key-${i}`, i]))
  const fields = Array.from({ length: 50 }, (_, i) => buildField(i % 2 ? '*.*' : '*.a', '{{key}}', String(i)))
  const started = process.cpuUsage()
  const { children, notes } = evaluated(wide, fields)
  const { user, system } = process.cpuUsage(started)
  t.same(children, [])
  t.ok(notes.some(note => /too large/.test(note)))
  t.ok(user + system < 10_000_000, `${(user + system) / 1_000} ms`)
})
