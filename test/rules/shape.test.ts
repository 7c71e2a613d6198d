import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { at, filesBelow, functionsIn, places, ROOT, sources } from './source.ts'

const program = sources('shared', 'control-plane', 'probe-agent')
const all = [...program, ...sources('deploy', 'tools', 'test', 'proto')]
const length = (text: string) => text.trimEnd().split('\n').length

t.test('no file is over 300 lines, no test over 400, and the median is under 80', async t => {
  const limit = (path: string) => (path.endsWith('.test.ts') ? 400 : 300)
  const long = all.filter(({ path, text }) => length(text) > limit(path))
  t.same(
    long.map(({ path, text }) => at(path, length(text), 'is too long')),
    [],
  )
  const lengths = program.map(({ text }) => length(text)).sort((a, b) => a - b)
  t.ok((lengths[Math.floor(lengths.length / 2)] ?? 0) < 80, 'median')
})

const MAX_FUNCTION_LINES = 80
const scripts = ['control-plane', 'probe-agent', 'deploy', 'tools']
  .flatMap(filesBelow)
  .filter(path => path.endsWith('.mjs'))
  .map(path => ({ path, code: readOr(path) }))
/** A migration that has landed is never edited. */
const MIGRATIONS = 'control-plane/foundation/migrations/'

t.test('no function is over 80 lines', async t => {
  const files = [...program, ...sources('deploy', 'tools'), ...scripts]
  const edited = files.filter(({ path }) => !path.startsWith(MIGRATIONS))
  t.same(
    edited.flatMap(file =>
      functionsIn(file)
        .filter(({ lines }) => lines > MAX_FUNCTION_LINES)
        .map(({ name, line, lines }) => at(file.path, line, `${name} has ${lines} lines`)),
    ),
    [],
  )
})

t.test('functions of every form are found, with their first and last line', async t => {
  const code = `
export function declared(a: string): void {
  if (a) {
    b()
  } else {
    c()
  }
}

async function withParameters(
  a: string,
  { b }: Options,
): Promise<void> {
  return items.map(async ({ c }) => {
    await c
  })
}

const arrow = ({
  a,
}: Options) => {
  for (const one of a) {
    b(one)
  }
}

const expression = (a: string) =>
  a.length === 0
    ? first(a, b => {
        return b
      })
    : a

function withResult(): Promise<{
  a: string
}> {
  return a
}

const object = {
  method(a) {
    return a
  },
  property: a => ({
    a,
  }),
}
`
  t.same(
    functionsIn({ code }).map(({ name, line, lines }) => [name, line, lines]),
    [
      ['declared', 2, 7],
      ['withParameters', 10, 8],
      ['a function', 14, 3],
      ['arrow', 19, 7],
      ['expression', 27, 6],
      ['a function', 29, 3],
      ['withResult', 34, 5],
      ['method', 41, 3],
      ['property', 44, 3],
    ],
  )
})

t.test('files are named in kebab-case', async t => {
  const names = all
    .map(({ path }) => path)
    .filter(path => !/^[a-z0-9]+(-[a-z0-9]+)*(\.test|\.d)?\.tsx?$/.test(basename(path)))
  t.same(names, [])
})

t.test('nothing is called Manager, Service, Helper, Util or Impl', async t => {
  const word = /(Manager|Service|Helper|Util|Utils|Impl)(?![a-z])/
  const name = new RegExp(
    `^\\s*(?:export )?(?:async )?(?:class|function|const|let|type|interface|enum) \\w*${word.source}\\b(?!,)`,
    'gm',
  )
  const file = /(^|[-/])(manager|service|helper|util|utils|impl|helpers|services|managers)(-|\.|\/|$)/
  t.same(
    [
      ...all.flatMap(source => places(source, name)),
      ...all.filter(({ path }) => file.test(path)).map(({ path }) => path),
    ],
    [],
  )
})

t.test('exports are named', async t => {
  t.same(
    all.flatMap(file => places(file, /^export default\b.*|^export \* from.*|^export \{.*\bas default\b/gm)),
    [],
  )
})

t.test('classes are for errors only, and nothing is decorated', async t => {
  const classes = program.flatMap(file => places(file, /^\s*(?:export )?(?:abstract )?class .*/gm))
  t.same(
    classes.filter(line => !/ extends \w*Error\b/.test(line)),
    [],
  )
  t.same(
    program.flatMap(file => places(file, /^\s*@\w+.*/gm)),
    [],
  )
})

t.test('no container, no autoload, no ORM', async t => {
  const wanted = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const names = Object.keys({ ...wanted.dependencies, ...wanted.optionalDependencies, ...wanted.devDependencies })
  const refused =
    /awilix|inversify|tsyringe|typedi|@nestjs|@fastify\/(autoload|awilix)|typeorm|prisma|sequelize|objection|mikro-orm|reflect-metadata/
  t.same(
    names.filter(name => refused.test(name)),
    [],
  )
  t.same(
    program.flatMap(file => places(file, /\.decorate(Reply)?\(/g)),
    [],
  )
})

t.test('tests are never skipped, postponed or run alone', async t => {
  const word = /\bt\.(skip|todo|only)\b|\.(skip|todo|only)\(|\{\s*(skip|todo|only):/g
  t.same(
    sources('test').flatMap(file => places(file, word)),
    [],
  )
})

/** Files in which a period of time is the subject itself. */
const PERIODS: Record<string, string> = {
  'test/support/wait.ts': 'asks for its condition again',
  'test/support/import-load.ts': 'observes Retry-After',
  'test/support/watched-process.ts': 'a program whose rounds take a given time',
}

t.test('no test waits for a fixed time', async t => {
  const kinds = ['api', 'attacks', 'browser', 'browsers', 'faults', 'flow', 'long', 'rules', 'store', 'support', 'unit']
  const wait =
    /\bsetTimeout\b.*from 'node:timers\/promises'|\bsleep\b.*from '|\bnew Promise\b.*=>\s*setTimeout\(|\.waitForTimeout\(|\bscheduler\.wait\(|\bAtomics\.wait\(|\.pause\(\d/g
  const waiting = sources(...kinds.map(kind => `test/${kind}`)).filter(file => places(file, wait).length > 0)
  t.same(
    waiting.filter(({ path }) => !(path in PERIODS)).flatMap(file => places(file, wait)),
    [],
  )
  t.same(
    waiting.map(({ path }) => path).filter(path => path in PERIODS),
    Object.keys(PERIODS).sort(),
    'each exception is needed',
  )
})

t.test('nothing is left for later in the text, and no path of a developer’s machine', async t => {
  const later = new RegExp(
    `\\b(${['TO', 'FIX', 'XX'].map((start, i) => start + ['DO', 'ME', 'X'][i]).join('|')})\\b`,
    'g',
  )
  const machine = new RegExp(`(?<![\\w.])/(${['work', 'home', 'Users'].join('|')})/\\w+`, 'g')
  const texts = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...filesBelow('docs'), ...filesBelow('.ci')]
  const documents = texts.map(path => ({ path, text: readOr(path), code: '' }))
  t.same(
    [...all, ...documents].flatMap(file => [...places(file, later, file.text), ...places(file, machine, file.text)]),
    [],
  )
})

t.test('the top level holds the programs, what both share, and what is expected there', async t => {
  const expected = [
    'proto',
    'control-plane',
    'probe-agent',
    'shared',
    'deploy',
    'tools',
    'test',
    'docs',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'biome.json',
    'README.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    'LICENSE',
    'SECURITY.md',
    'node_modules',
    'dist',
  ]
  t.same(
    readdirSync(ROOT).filter(name => !name.startsWith('.') && !expected.includes(name)),
    [],
  )
})

function readOr(path: string): string {
  try {
    return readFileSync(join(ROOT, path), 'utf8')
  } catch {
    return ''
  }
}
