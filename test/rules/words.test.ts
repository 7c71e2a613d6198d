import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { listParts } from './lexer.ts'
import { at, filesBelow, places, ROOT, sources } from './source.ts'

/** Words that CONTRIBUTING ("Language") replaces, and what to write instead. */
const UNWANTED: [RegExp, string][] = [
  [/\b(told|tells?|telling)\b/gi, 'notify, send, report'],
  [/\banew\b/gi, 'again'],
  [/\b(whoever|nobody|somebody|everybody)\b/gi, 'no user, a client, all …'],
  [/\b(stands?|stood)\b/gi, 'is'],
  [/(?<!\bthere )\b(is|are|was|were) no\b(?! longer\b| more\b)/gi, 'is not a'],
  [/\b(comes?|came) of\b/gi, 'is caused by, is derived from'],
  [/\b(is|are|was) said\b/gi, 'defaults to, is given'],
  [/\b(hears?|heard)\b/gi, 'receives, is notified'],
  [/\b(ours|of our own)\b/gi, "Picket's"],
  [/\bmend(s|ed|ing)?\b/gi, 'fix'],
  [/\bbeside\b/gi, 'next to, in addition to'],
  [/\bit is drained no more\b/gi, 'is no longer drained'],
  [/\be-mail/gi, 'email'],
]

/** Files that quote such words: this list, texts of other people, and function bodies that databases store. */
const QUOTES =
  /^(test\/rules\/(words|names)\.test\.ts|(deploy\/client\/)?LICENSE$|test\/fixtures\/|control-plane\/foundation\/migrations\/postgres\/00(10|18)-)/

const FOLDERS = ['docs', 'deploy', 'control-plane', 'probe-agent', 'shared', 'tools', 'proto', 'test', '.ci']
const others = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'package.json',
  '.taprc',
  '.dockerignore',
]
  .concat(FOLDERS.flatMap(filesBelow))
  .filter(path => !QUOTES.test(path) && !path.includes('/gen/') && !/^proto\/grpc\//.test(path))
const read = (path: string) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') })

const MARKDOWN = others.filter(path => path.endsWith('.md')).map(read)
const SCRIPTS = others.filter(path => /\.m[jt]s$/.test(path)).map(read)
/** Settings, images, shell scripts, styles and messages: read as a whole. */
const TEXT = /\.(yaml|json|sh|conf|env|service|css|proto|txt|Dockerfile)$|(^|\/)(Caddyfile|run|\.taprc|\.dockerignore)$/
const PLAIN = others.filter(path => TEXT.test(path)).map(read)

/** The table of the style guide quotes what is not written. */
const withoutExamples = ({ path, text }: { path: string; text: string }) => ({
  path,
  text: text.replace(/(?<=^\| instead of \| write \|\n)(\|.*\n)+/m, rows => rows.replace(/[^\n]/g, ' ')),
})

/** `told` is also a stored column and value: in a statement of SQL, or quoted. */
const STORED_TOLD =
  /[`'"]told[`'"]|\btold(_at)? *(=|,|\)|(text|integer|AS)\b)|\b(SET|SELECT|INSERT|VALUES|UPDATE|THEN)\b.*\btold\b|\b\w+\.told\b/

/** A text of one word in quotes is a value, such as the name of a column. */
const VALUE = /^(['"`])\S*\1$/

/** Comments, the texts in quotes and those of elements, each with its place in the file. Code between them is blanked out. */
function textsIn(source: string, path: string): string {
  const blank = (text: string) => text.replace(/[^\n]/g, ' ')
  let texts = ''
  let end = 0
  for (const { kind, start, end: partEnd } of listParts(source, path.endsWith('.tsx'))) {
    const text = source.slice(start, partEnd)
    texts += blank(source.slice(end, start)) + (kind === 'regexp' || VALUE.test(text) ? blank(text) : text)
    end = partEnd
  }
  return texts
}

/** Titles with a clause as their subject: write "Text that is typed stays" instead of "What is typed stays". */
const CLAUSE_AS_SUBJECT = /\bt\.test\(\s*['"`](what|who)\b.*/gi

function findUnwanted({ path, text }: { path: string; text: string }): string[] {
  if (UNWANTED.every(([pattern]) => text.search(pattern) === -1)) return []
  return text
    .split('\n')
    .flatMap((line, index) =>
      UNWANTED.flatMap(([pattern, instead]) =>
        [...line.matchAll(pattern)]
          .filter(match => !(match[0] === 'told' && STORED_TOLD.test(line)))
          .map(match => at(path, index + 1, `"${match[0]}": write ${instead}`)),
      ),
    )
}

t.test('the words of comments and texts are those of the field', async t => {
  const code = sources('control-plane', 'probe-agent', 'shared', 'deploy', 'tools', 'proto', 'test')
  const files = [...code, ...SCRIPTS]
    .filter(({ path }) => !QUOTES.test(path))
    .map(({ path, text }) => ({ path, text: textsIn(text, path) }))
  t.same(files.flatMap(findUnwanted), [])
})

t.test('the words of documents are those of the field', async t => {
  t.ok(MARKDOWN.length > 60)
  t.same(MARKDOWN.map(withoutExamples).flatMap(findUnwanted), [])
})

t.test('the words of settings, images, shell scripts, styles and messages are those of the field', async t => {
  t.ok(SCRIPTS.length > 20 && PLAIN.length > 60)
  t.same(PLAIN.flatMap(findUnwanted), [])
})

t.test('titles of tests do not begin with "What" or "Who"', async t => {
  const tests = sources('test').filter(({ path }) => /\.test\.tsx?$/.test(path) && !QUOTES.test(path))
  t.ok(tests.flatMap(file => places(file, /\bt\.test\(/g)).length > 3_000)
  t.same(
    tests.flatMap(file => places(file, CLAUSE_AS_SUBJECT)),
    [],
  )
  const code = ["t.test('What is left stays', run)", 't.test(', '  `who asks is answered`,', "t.test('Whole', run)"]
  const found = places({ path: 'a.test.ts', text: '', code: code.join('\n') }, CLAUSE_AS_SUBJECT)
  t.same(
    found.map(text => text.split(' ')[0]),
    ['a.test.ts:1', 'a.test.ts:2'],
  )
})

t.test('the list finds its words in comments and texts, and leaves names alone', async t => {
  const find = (path: string, text: string) =>
    findUnwanted({ path, text: textsIn(text, path) }).map(found => found.slice(0, found.indexOf('": write')))
  const code = ["const told = 'it is no number' // made anew", '/** Nobody', ' * hears. */'].join('\n')
  t.same(find('a.ts', code), ['a.ts:1 "anew', 'a.ts:1 "is no', 'a.ts:2 "Nobody', 'a.ts:3 "hears'])
  t.same(find('a.ts', "rows.told_at = 'there is no row'"), [])
  const element = ['<p title="stood here">', '  It’s {told} that <b>', '    Nobody', '  </b> is <i>heard</i>', '</p>']
  const page = `const nobody = (mend: number) => (\n${element.join('\n')}\n) // \`\``
  t.same(find('a.tsx', page), ['a.tsx:2 "stood', 'a.tsx:4 "Nobody', 'a.tsx:5 "heard'])
})
