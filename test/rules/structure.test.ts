import { dirname } from 'node:path'
import t from 'tap'
import { filesBelow, parseImports, sources } from './source.ts'

const PROGRAMS = ['control-plane', 'probe-agent', 'shared', 'deploy', 'tools']
const isGenerated = (path: string) => path.includes('/gen/')

/** More entries than this are hard to scan. A folder with more is divided, for a reason that its names say. */
const MAX_ENTRIES = 12
/** The ten areas next to the entry points, and a numbered series. */
const LARGE = ['control-plane', 'control-plane/foundation/migrations/postgres']

t.test('the control plane has at most ten folders at its top', async t => {
  const folders = new Set(
    filesBelow('control-plane')
      .filter(path => path.split('/').length > 2)
      .map(path => path.split('/')[1]!),
  )
  t.ok(folders.size > 5 && folders.size <= 10, [...folders].join(', '))
})

t.test('no folder has more than twelve entries', async t => {
  const entries = new Map<string, Set<string>>()
  for (let path of PROGRAMS.flatMap(filesBelow).filter(path => !isGenerated(path))) {
    for (; dirname(path) !== '.'; path = dirname(path)) {
      const folder = dirname(path)
      entries.set(folder, (entries.get(folder) ?? new Set()).add(path))
    }
  }
  const found = [...entries].filter(([folder, { size }]) => size > MAX_ENTRIES && !LARGE.includes(folder))
  t.same(
    found.map(([folder, { size }]) => `${folder} has ${size} entries`),
    [],
  )
})

/** A file with at most this many lines and one user is part of its user. */
const MAX_SMALL_LINES = 12
/** An index, and a numbered series. */
const MAY_BE_SMALL = /\/index\.ts$|^control-plane\/foundation\/migrations\//
/** Elements cannot be in their user, because that is not a `.tsx` file. */
const hasElementsFor = (path: string, user: string) => path.endsWith('.tsx') && user.endsWith('.ts')

t.test('a small file has more than one user', async t => {
  const users = new Map<string, Set<string>>()
  for (const { file, target } of sources(...PROGRAMS).flatMap(parseImports))
    users.set(target, (users.get(target) ?? new Set()).add(file))
  const small = sources('control-plane', 'probe-agent', 'shared').filter(
    ({ path, text }) => text.split('\n').length - 1 <= MAX_SMALL_LINES && !MAY_BE_SMALL.test(path),
  )
  t.ok(small.length > 20)
  t.same(
    small
      .map(({ path }) => ({ path, of: [...(users.get(path) ?? [])] }))
      .filter(({ path, of: [user, ...others] }) => user && others.length === 0 && !hasElementsFor(path, user))
      .map(({ path, of }) => `${path} is used by ${of} only`),
    [],
  )
})

t.test('no files import each other in a circle, types included', async t => {
  const targets = new Map(
    sources(...PROGRAMS)
      .filter(({ path }) => !isGenerated(path))
      .map(file => [
        file.path,
        parseImports(file)
          .filter(({ isRelative }) => isRelative)
          .map(({ target }) => target),
      ]),
  )
  t.ok(targets.size > 500)
  t.same(findCircles(targets), [])
})

/** Each circle as `a -> b -> a`: a depth-first search that meets a file of its own path again. */
function findCircles(targets: Map<string, string[]>): string[] {
  const circles: string[] = []
  const done = new Set<string>()
  const visit = (file: string, path: string[]) => {
    const start = path.indexOf(file)
    if (start !== -1) circles.push([...path.slice(start), file].join(' -> '))
    if (start !== -1 || done.has(file)) return
    for (const target of targets.get(file) ?? []) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of targets.keys()) visit(file, [])
  return circles
}
