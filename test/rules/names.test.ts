import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { blankParts } from './lexer.ts'
import { filesBelow, places, ROOT, type SourceFile, sources } from './source.ts'

const files = sources('control-plane', 'probe-agent', 'shared', 'deploy', 'tools')

/** JavaScript below these folders. */
function readScripts(...folders: string[]): SourceFile[] {
  return folders.flatMap(filesBelow).flatMap(path => {
    if (!path.endsWith('.mjs')) return []
    const code = readFileSync(join(ROOT, path), 'utf8')
    return [{ path, text: code, code }]
  })
}

const scripts = readScripts('deploy', 'tools', 'probe-agent')

/** Words that say nothing to a reader who does not know this project; the comment names what to write instead. */
const UNWANTED = [
  ...['told', 'tell', 'tells', 'telling', 'hear', 'hears', 'heard'], // notify, send, publish, report, receive
  ...['say', 'says', 'saying', 'said'], // print, log, title, answer
  ...['most', 'longest', 'largest'], // MAX_
  ...['patience'], // timeout
  ...['seal', 'seals', 'sealed', 'unseal'], // encrypt, decrypt
  ...['bury', 'buries', 'buried'], // evict, expire
  ...['anew'], // again
  ...['desk', 'book', 'harvest', 'sitting', 'sittings', 'kin', 'door', 'outlook', 'sight', 'ground', 'news'], // context, table, effects …
  ...['trouble', 'troubles', 'well', 'wells'], // problem, recovery
  ...['nobody', 'somebody', 'everybody', 'whoever', 'ours'], // missing, all, own
  ...['stand', 'stands', 'stood', 'mend', 'mends', 'mended', 'mending', 'odd'], // be, fix, outlier
  ...['meter', 'meters'], // metrics
  ...['beside', 'aside'],
]

const EXPORT = /^export (?:declare )?(?:async function|function\*?|const|let|type|interface|class|enum) +(\w+)/gm

const TYPE = /^export (?:declare )?(?:type|interface|class|enum) +(\w+)/gm

const namesIn = ({ code }: SourceFile) => [...code.matchAll(EXPORT)].map(([, name = '']) => name)

/** `MAX_BODY_BYTES`, `parseUrl` and `HTTPServer` as lower-case words. */
const wordsIn = (name: string) =>
  [...name.matchAll(/[A-Z]?[a-z0-9]+|[A-Z0-9]+(?![a-z])/g)].map(([word]) => word.toLowerCase())

t.test('exported names use words of the field', async t => {
  const found = files.flatMap(file =>
    namesIn(file)
      .filter(name => wordsIn(name).some(word => UNWANTED.includes(word)))
      .map(name => `${file.path}: ${name}`),
  )
  t.same(found, [])
})

/** Adverbs and superlatives describe local values well: the largest of a list, and results that are set aside. */
const ALLOWED_LOCALLY = ['most', 'longest', 'largest', 'aside']
/** Names that are fixed, and the files that use them: of stored fields, messages, answers, migrations and libraries. */
const FIXED: Record<string, RegExp> = {
  isTold: /\/(verdict|rehearsal)\/|^test\/(simulate\/unchecked|store\/verdict-states\.test)\.ts$/,
  told: /\/verdict\/suppression\/|^test\/store\/(retention|withheld-alerts)\.test\.ts$/,
  isWell: /\/verdict\/(core|reader)\//,
  oddProbeId: /\/(fleet|counting)\/|^test\/store\/drain\.test\.ts$/,
  sealedSpec: /\/fleet\/|^shared\/nats\/subjects\.ts$|^test\/flow\/fleet-monitor-test\.test\.ts$/,
  sealedAddresses: /\/migrations\//,
  well: /\/health[/.]/,
  troubles: /\/wall[-/.]/,
  // of Unix, and of JavaScript
  NOBODY_UID: /\/sandbox\.ts$/,
  toWellFormed: /^deploy\/cli\//,
}
const UNWANTED_LOCALLY = UNWANTED.filter(word => !ALLOWED_LOCALLY.includes(word))
const isUnwanted = (name: string) => wordsIn(name).some(word => UNWANTED_LOCALLY.includes(word))

/** Names of variables, functions, parameters and properties with unwanted words, fixed ones included. */
function listUnwantedNames({ path, text }: Pick<SourceFile, 'path' | 'text'>): string[] {
  const list = (code: string) => [...new Set(code.match(/[A-Za-z_$][\w$]*/g))].filter(isUnwanted)
  return list(text).length > 0 ? list(blankParts(text, path.endsWith('.tsx'))) : []
}

t.test('local names use words of the field, in programs, tests and scripts', async t => {
  const all = [...files, ...sources('proto', 'test'), ...scripts, ...readScripts('test')]
  const found = all
    .filter(({ path }) => !path.startsWith('test/rules/'))
    .flatMap(file => listUnwantedNames(file).map(name => ({ path: file.path, name })))
  t.same(
    found.filter(({ path, name }) => !FIXED[name]?.test(path)).map(({ path, name }) => `${path}: ${name}`),
    [],
  )
  t.same(
    Object.keys(FIXED).filter(name => !found.some(one => one.name === name)),
    [],
    'each exception is needed',
  )
})

t.test('local names are found in code, not in comments, texts and columns of SQL', async t => {
  const code = [
    'const whoever = `SELECT told FROM reminders` // told',
    "type Row = { 'told': string; outageIsTold(saidMs: number): void }",
    'const Page = (stands: string) => <p title="mended">Nobody {trouble} says /* anew */</p>',
    'const { most, standby, foretold, wellKnown } = /odd/',
  ].join('\n')
  t.same(listUnwantedNames({ path: 'a.tsx', text: code }), [
    'whoever',
    'outageIsTold',
    'saidMs',
    'stands',
    'trouble',
    'wellKnown',
  ])
})

/** Names that the language, JSON Schema and a field of the API give. */
const GIVEN = [
  'indexOf',
  'lastIndexOf',
  'valueOf',
  'getPrototypeOf',
  'setPrototypeOf',
  'oneOf',
  'anyOf',
  'allOf',
  'asOf',
]

t.test('functions are named by verbs and values by nouns: no name ends in "Of"', async t => {
  t.same(
    [...files, ...sources('test'), ...scripts, ...readScripts('test')].flatMap(file =>
      places(file, /(?<!['"`-])\b[A-Za-z]\w*[a-z]Of\b/g).filter(
        place => !GIVEN.includes(place.split(' ').at(-1) ?? ''),
      ),
    ),
    [],
  )
})

t.test('an exported type has a name of its own in the whole repository', async t => {
  const places = new Map<string, string[]>()
  for (const { path, code } of files.filter(({ path }) => !path.includes('/gen/'))) {
    for (const [, name = ''] of code.matchAll(TYPE)) places.set(name, [...(places.get(name) ?? []), path])
  }
  t.ok(places.size > 500)
  t.same(
    [...places].filter(([, paths]) => paths.length > 1).map(([name, paths]) => `${name}: ${paths.join(', ')}`),
    [],
  )
})

/** Nouns that end as participles do. */
const NOUNS = /^(feed|embed|ping|string|thing|(encod|find|head|mapp|rat|read|tim|warn)ing)$/
const PARTICIPLE =
  /(ed|ing)$|^(begun|chosen|done|found|given|held|kept|known|left|lost|made|said|seen|sent|shown|taken|told|written)$/

/** Whether a type is named by what is done with it, such as `Told` or `DeadlineExceeded`, and not by what it is. */
function isParticiple(name: string): boolean {
  const last = wordsIn(name).at(-1) ?? ''
  return PARTICIPLE.test(last) && !NOUNS.test(last)
}

t.test('types are named by nouns, not by participles', async t => {
  const types = [...files, ...sources('test')].flatMap(({ path, code }) => {
    const pattern = isProgram(path) ? /^(?:export )?(?:declare )?(?:type|interface|class|enum) +(\w+)/gm : TYPE
    return [...code.matchAll(pattern)].map(([, name = '']) => ({ path, name }))
  })
  t.ok(types.length > 1_000)
  t.same(
    types.filter(({ name }) => isParticiple(name)).map(({ path, name }) => `${path}: ${name}`),
    [],
  )
  t.same(['Told', 'DeadlineExceeded', 'Arranging'].map(isParticiple), [true, true, true])
  t.same(['StoredFeed', 'CheckTiming', 'StoredChild'].map(isParticiple), [false, false, false])
})

const isProgram = (path: string) => !path.startsWith('test/')

const domain = ({ path }: SourceFile) => /^(control-plane|probe-agent|shared)\//.test(path)
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** `entries` as `entry`, `results` as `result`; `status`, `process` and `analysis` as they are. */
const toSingular = (word: string) => word.replace(/(?<=\w\w)ies$/, 'y').replace(/(?<=\w\w[^siu])s$/, '')

/** The words of the glossary's terms; `re-check` is three: `re`, `check` and `recheck`. */
function listGlossaryWords(): Set<string> {
  const terms = [...read('docs/glossary.md').matchAll(/^\| (?!term )([^|]+) \|/gm)].map(([, term = '']) => term)
  const words = terms.flatMap(term => [...term.split(/[ ,-]+/), ...term.replaceAll('-', '').split(/[ ,]+/)])
  return new Set(words.map(toSingular))
}

/** Words of programming and of general English. */
const generalTerms = read('test/rules/general-terms.txt').trim().split(/\s+/)

t.test('each word in the name of an exported type is in the glossary or a general term', async t => {
  const [glossary, general] = [listGlossaryWords(), new Set(generalTerms.map(toSingular))]
  t.ok(glossary.size > 80)
  const found = files.filter(domain).flatMap(({ path, code }) =>
    [...code.matchAll(TYPE)].flatMap(([, name = '']) =>
      wordsIn(name)
        .map(toSingular)
        .filter(word => !glossary.has(word) && !general.has(word))
        .map(word => `${path}: ${name}: add "${word}" to docs/glossary.md or test/rules/general-terms.txt`),
    ),
  )
  t.same(found, [])
})

t.test(
  'the list of general terms is sorted, and has only words that names of types use and the glossary does not',
  async t => {
    const glossary = listGlossaryWords()
    const used = new Set(
      files
        .filter(domain)
        .flatMap(({ code }) => [...code.matchAll(TYPE)].flatMap(([, name = '']) => wordsIn(name).map(toSingular))),
    )
    t.same(generalTerms, [...generalTerms].sort())
    t.equal(new Set(generalTerms.map(toSingular)).size, generalTerms.length, 'each word once, in one form')
    t.same(
      generalTerms.filter(word => !used.has(toSingular(word))),
      [],
    )
    t.same(
      generalTerms.filter(word => glossary.has(toSingular(word))),
      [],
    )
  },
)
