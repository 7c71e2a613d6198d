import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import { filesBelow, ROOT, sources } from './source.ts'

// This is a rule of the project instead of knip, because knip brings a native parser and by default does not report the
// exports of entry files, which have to be imported here too. An import by a test counts.

const FOLDERS = ['control-plane', 'probe-agent', 'shared', 'deploy', 'tools', 'test', 'proto']

/** Read by tools from outside the repository: the typed client, and migrations, which their index imports as a whole. */
const ENTRIES = /^(deploy\/client\/|control-plane\/foundation\/migrations\/)/

/** Loaded by a name that is not written as an import: bundles, what the bundler inserts, and programs that a test writes. */
const LOADED_BY_PATH = [
  'tools/demo/demo.ts#demo',
  'tools/probe-executable/require.ts#createRequire',
  'tools/test-runner/process/current-test.ts#currentTest',
  'tools/test-runner/process/error-domain.ts#Domain',
  'test/support/confine.mjs#forbidNamespaces',
  'test/support/confine.mjs#confineTo',
]

type Code = { path: string; code: string }

/** JavaScript of the tools, which imports TypeScript too. */
const scripts = () =>
  FOLDERS.flatMap(filesBelow)
    .filter(path => /\.m[jt]s$/.test(path))
    .map(path => ({ path, code: readFileSync(join(ROOT, path), 'utf8') }))

const DECLARED =
  /^export (?:declare )?(?:async function|function\*?|const|let|type|interface|class|enum) +(\w+)|^export const [{[]([^=]+)[}\]] =/gm
const LISTED = /^export (?:type )?\{([^}]*)\}(?! from)/gm
const IMPORTED =
  /\b(?:import|export)\s+(?:type\s+)?(?:\w+\s*,\s*)?(\{[^}]*\}|\*\s+as\s+\w+)\s*from\s*['"](\.[^'"]+)['"]/g
const LOADED = /\bimport\(\s*['"](\.[^'"]+)['"]\s*\)/g

/** The names of `a, type b, c as d`: those before `as` by default, those after it for `last`. */
const namesIn = (list: string, last = false) =>
  list
    .split(',')
    .map(name =>
      name
        .replace(/\btype\s+/, '')
        .trim()
        .split(last ? /.*\sas\s+|.*:\s*/ : /\s+as\s+|\s*:/),
    )
    .map(names => (last ? names.at(-1) : names[0]) ?? '')
    .filter(name => /^\w+$/.test(name))

const exportsIn = ({ code }: Code) => [
  ...[...code.matchAll(DECLARED)].flatMap(([, name, list]) => (name ? [name] : namesIn(list ?? '', true))),
  ...[...code.matchAll(LISTED)].flatMap(([, list = '']) => namesIn(list, true)),
]

/** What a file uses of others, as `path#name`. A module that is loaded at run time is used by each word of the file. */
function usesIn({ path, code }: Code): string[] {
  const resolve = (specifier: string) => normalize(join(dirname(path), specifier))
  const imported = [...code.matchAll(IMPORTED)].flatMap(([, what = '', specifier = '']) => {
    const space = /^\*\s+as\s+(\w+)/.exec(what)?.[1]
    const names = space
      ? [...code.matchAll(new RegExp(`\\b${space}\\.(\\w+)`, 'g'))].map(([, name = '']) => name)
      : namesIn(what.slice(1, -1))
    return names.map(name => `${resolve(specifier)}#${name}`)
  })
  const loaded = [...code.matchAll(LOADED)].map(([, specifier = '']) => resolve(specifier))
  const words = loaded.length > 0 ? [...new Set(code.match(/\b\w+\b/g))] : []
  return [...imported, ...loaded.flatMap(target => words.map(word => `${target}#${word}`))]
}

/** A declaration file describes a script of the same name, which others import. */
const toScript = (path: string) => path.replace(/\.d\.mts$/, '.mjs')

function findUnused(files: Code[]): string[] {
  const used = new Set(files.flatMap(usesIn))
  return files
    .filter(({ path }) => !ENTRIES.test(path) && !path.endsWith('.test.ts'))
    .flatMap(file =>
      exportsIn(file).map(name => ({ name: `${file.path}#${name}`, user: `${toScript(file.path)}#${name}` })),
    )
    .filter(({ user }) => !used.has(user))
    .map(({ name }) => name)
}

t.test('each export is imported by another file', async t => {
  const files = [...sources(...FOLDERS), ...scripts()]
  t.ok(files.flatMap(exportsIn).length > 2_000)
  t.same(findUnused(files), LOADED_BY_PATH)
})

t.test('an import counts for the file that it names only', async t => {
  const files = [
    {
      path: 'a/one.ts',
      code: 'export type A = 1\nexport function b() {}\nexport const { c, d: e } = f\nexport { g as h }',
    },
    { path: 'a/two.ts', code: 'export type A = 2\nexport const b = 1' },
    {
      path: 'b/user.ts',
      code: "import { type A, b as other } from '../a/one.ts'\nimport * as two from '../a/two.ts'\ntwo.b",
    },
    { path: 'b/loader.ts', code: "const { h } = await import('../a/one.ts')" },
  ]
  t.same(findUnused(files), ['a/one.ts#c', 'a/one.ts#e', 'a/two.ts#A'])
})
