import t from 'tap'
import { findRole, findRoom, isDomain } from './rooms.ts'
import { at, type Import, parseImports, places, sources } from './source.ts'

const files = sources('control-plane/dashboard')
/** The files that read data for a page, and send it. */
const EFFECTS = /^control-plane\/dashboard\/(routes|form-routes|load-actions|wall\/wall-routes)\.tsx?$/
const show = (found: Import[]) => found.map(({ file, line, target }) => at(file, line, `imports ${target}`))

t.test('the dashboard does I/O in its routes, its reads and its browser part only', async t => {
  const withRole = files.map(({ path }) => path).filter(path => findRole(path) !== null)
  t.same(
    withRole.filter(path => !EFFECTS.test(path)),
    [],
  )
  t.equal(withRole.length, 4)
  const found = files
    .filter(({ path }) => !EFFECTS.test(path))
    .flatMap(parseImports)
    .filter(({ target, isRelative, isType }) => {
      if (isType) return false
      if (!isRelative) return target.startsWith('node:')
      const room = findRoom(target)
      return room === 'foundation/platform' || (isDomain(room) && findRole(target) !== null)
    })
  t.same(show(found), [])
})

t.test('the files that browsers load contain neither the server nor modules of Node', async t => {
  const byPath = new Map(
    sources('control-plane', 'shared').map(file => [file.path, parseImports(file).filter(({ isType }) => !isType)]),
  )
  const reached = new Set(['browser/main.tsx', 'wall/browser/main.tsx'].map(name => `control-plane/dashboard/${name}`))
  for (const path of reached)
    for (const { target, isRelative } of byPath.get(path) ?? []) if (isRelative) reached.add(target)
  t.ok(reached.size > 30, `${reached.size} files`)
  const ALLOWED =
    /^(control-plane\/dashboard\/(browser|core|parts|screens|wall)\/|deploy\/client\/|shared\/(checks\/|assertions\/names\.ts$|secret-names\.ts$|group-by\.ts$|storable-text\.ts$|json-path\.ts$)|control-plane\/foundation\/web\/(html\/(mail-layout|text-lines|contrast)|validation\/(date-time|time-zone|visible-text))\.tsx?$)/
  const shown = [...reached].filter(path => !ALLOWED.test(path))
  const pure = shown.filter(path => isDomain(findRoom(path)) && findRole(path) === null)
  t.same(
    shown.filter(path => !pure.includes(path)),
    [],
    'only the dashboard, the typed client and pure files of rooms',
  )
  const libraries = [...reached].flatMap(path => byPath.get(path) ?? []).filter(({ isRelative }) => !isRelative)
  const wrong = libraries.filter(
    ({ target }) => !/^(preact|preact-iso|@tanstack\/query-core|croner|js-yaml)(\/|$)/.test(target),
  )
  t.same(show(wrong), [])
})

t.test('no element of the dashboard has inline styles, texts as handlers, or HTML made of texts', async t => {
  t.ok(files.some(({ path }) => path.endsWith('.tsx')))
  const INLINE = /\sstyle=|\son\w+=["'`]|dangerouslySetInnerHTML|\b(inner|outer)HTML\b|insertAdjacentHTML/g
  t.same(
    files.flatMap(file => places(file, INLINE)),
    [],
  )
})
