import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import { buildHighlights } from '../bench/document.ts'
import { ROOMS } from './rooms.ts'
import { at, filesBelow, ROOT, type SourceFile, sources } from './source.ts'

const AT_TOP = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md']
const FOLDERS = ['docs', 'deploy', 'control-plane', 'probe-agent', 'shared', 'tools']
const documents = [...AT_TOP, ...FOLDERS.flatMap(filesBelow).filter(path => path.endsWith('.md'))]
const code = sources('control-plane', 'probe-agent', 'shared', 'deploy', 'tools', 'proto', 'test')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** The anchors of a Markdown file, made of its headings as GitHub makes them. */
function readAnchors(path: string): Set<string> {
  const headings = [...read(path).matchAll(/^#{1,6} +(.+)$/gm)].map(([, text = '']) => text)
  return new Set(headings.map(toAnchor))
}

const toAnchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-')

/** Why `target` (`path` or `path#anchor`) leads nowhere, or null. */
function findBrokenLink(target: string): string | null {
  const [path = '', anchor] = target.split('#')
  if (!existsSync(join(ROOT, path))) return `${path} does not exist`
  if (anchor === undefined || !path.endsWith('.md')) return null
  return readAnchors(path).has(anchor) ? null : `${path} has no heading for #${anchor}`
}

t.test('the map of the README has each area with its rooms, in import order', async t => {
  const rows = read('README.md').matchAll(/^\| `([a-z]+)` \| ((?:`[a-z-]+`(?:, )?)*) ?\|/gm)
  const rooms = [...rows].flatMap(([, area, cells = '']) => {
    const names = [...cells.matchAll(/`([a-z-]+)`/g)].map(found => `${area}/${found[1]}`)
    return names.length > 0 ? names : [`${area}`]
  })
  // rooms of foundation are named by what they are; the command line and the roles of processes connect the rooms
  const inOrder = (names: string[]) =>
    names.filter(name => !name.startsWith('foundation/') && !['operations/admin', 'operations/roles'].includes(name))
  t.same(inOrder(rooms), inOrder(ROOMS))
})

t.test('the walk through the files names each file once', async t => {
  const links = [...read('docs/design/README.md').matchAll(/\]\((\.\.\/[^)\s]+\.tsx?)\)/g)].map(([, link]) => link)
  t.ok(links.length > 50)
  t.same(
    links.filter((link, i) => links.indexOf(link) !== i),
    [],
  )
})

t.test('every relative link of a document leads to a file, and to a heading of it', async t => {
  const found = documents.flatMap(path =>
    [...read(path).matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].flatMap(([, link = '']) => {
      const problem = findBrokenLink(link.startsWith('#') ? `${path}${link}` : normalize(join(dirname(path), link)))
      return problem === null ? [] : [`${path}: ${link}: ${problem}`]
    }),
  )
  t.same(found, [])
})

const lineAt = (text: string, index: number) => text.slice(0, index).split('\n').length

const findIn = ({ path, text }: Pick<SourceFile, 'path' | 'text'>, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(match => ({ place: at(path, lineAt(text, match.index), match[0]), match }))

t.test('every citation of a document in the code leads to a file and a heading', async t => {
  const cited = code.flatMap(file => findIn(file, /\bdocs\/[\w/-]+\.md(?:#[\w-]+)?/g))
  t.ok(cited.length > 50)
  t.same(
    cited.flatMap(({ place, match }) => {
      const problem = findBrokenLink(match[0])
      return problem === null ? [] : [`${place}: ${problem}`]
    }),
    [],
  )
})

t.test('nothing cites a document outside the repository, or a decision by its number', async t => {
  const outside = /\bdecisions? \d+(\.\d+)*|\bspecification, "|\bhouse, "|\(the specification\b/g
  const texts = [...code, ...documents.map(path => ({ path, text: read(path) }))]
  t.same(
    texts
      .filter(({ path }) => path !== 'test/rules/documents.test.ts')
      .flatMap(file => findIn(file, outside).map(({ place }) => place)),
    [],
  )
})

t.test('a design document has at most two pages', async t => {
  const words = filesBelow('docs/design')
    .filter(path => path.endsWith('.md'))
    .map(path => ({ path, count: read(path).split(/\s+/).length }))
  t.ok(words.length >= 13)
  t.same(
    words.filter(({ count }) => count > 1_500).map(({ path, count }) => `${path} has ${count} words`),
    [],
  )
})

t.test('there are at most fifteen decision records', async t => {
  const records = filesBelow('docs/decisions').filter(path => !path.endsWith('README.md'))
  t.ok(records.length > 0 && records.length <= 15)
})

t.test('the figures of README.md are rows of docs/benchmarks.md', async t => {
  t.ok(read('README.md').includes(buildHighlights(read('docs/benchmarks.md'))))
})
