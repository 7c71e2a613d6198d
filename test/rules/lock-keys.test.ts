import t from 'tap'
import { LOCK_KEYS } from '../../control-plane/foundation/platform/postgres/lock-keys.ts'
import { places, sources } from './source.ts'

const files = sources('control-plane')
const WITH_NUMBERS =
  /^control-plane\/foundation\/(platform\/postgres\/lock-keys\.ts|migrations\/postgres\/\d{4}-.*\.ts)$/

t.test('no two purposes share the key of an advisory lock', async t => {
  const keys = Object.values(LOCK_KEYS)
  t.same(keys.length, new Set(keys).size)
})

t.test('every advisory lock is taken by a name of the one table, and every name is used', async t => {
  const taken = /pg_(?:try_)?advisory_\w+\((?!\$\{LOCK_KEYS\.)[^)]*/g
  t.same(
    files.filter(({ path }) => !WITH_NUMBERS.test(path)).flatMap(file => places(file, taken)),
    [],
  )
  const used = new Set(
    files.flatMap(({ code }) => [...code.matchAll(/\$\{LOCK_KEYS\.(\w+)\}/g)].map(([, name]) => name)),
  )
  t.same(
    [...Object.keys(LOCK_KEYS)].filter(name => !used.has(name) && name !== 'monitorRevisions'),
    [],
  )
})

t.test('the key that functions of the database take is the one of the table', async t => {
  const migrations = files.filter(({ path }) => /migrations\/postgres\/\d{4}/.test(path))
  const numbers = migrations.flatMap(({ code }) =>
    [...code.matchAll(/advisory_xact_lock\((\d+)/g)].map(([, key]) => Number(key)),
  )
  t.ok(numbers.length > 0)
  t.same([...new Set(numbers)], [LOCK_KEYS.monitorRevisions])
})

t.test('a test that waits while it holds a lock lifts the time limit of an idle transaction', async t => {
  const opener = 'test/support/open-transaction.ts'
  const others = sources('test').filter(({ path }) => path !== opener)
  const begun = /await [\w.]+\.transaction\(\)/g
  t.same(
    others.flatMap(file => places(file, begun)),
    [],
  )
  const withoutWait = ['test/support/publishing.ts']
  const locking = others.filter(({ text }) => /LOCK TABLE|FOR UPDATE/.test(text))
  t.ok(locking.length > 10)
  t.same(
    locking.filter(({ text }) => !/openTransaction|keepOpen|runWhileLocked/.test(text)).map(({ path }) => path),
    withoutWait,
  )
})
