import t from 'tap'
import {
  listFirstOpen,
  listTreeRows,
  type TreeState,
} from '../../../control-plane/dashboard/screens/integrations/sources/document/tree-rows.ts'

const NOTHING: TreeState = { open: new Set(), shown: new Map() }
const draw = (root: unknown, open: string[], shown: [string, number][] = []) =>
  listTreeRows(root, { open: new Set(open), shown: new Map(shown) }).map(row =>
    row.kind === 'more'
      ? `${row.level} more ${row.left}`
      : `${row.level} ${row.name}: ${row.text}${row.isOpen === null ? '' : row.isOpen ? ' -' : ' +'}`,
  )

t.test('A tree shows the entries of what is open, in the order of the document', async t => {
  const root = { b: { x: 1, y: [] }, a: [true, null, 'text "q"'], 'c.d': {} }
  t.same(draw(root, []), ['1 Document: 3 keys +'])
  t.same(draw(root, ['$', 'a', 'b']), [
    '1 Document: 3 keys -',
    '2 b: 2 keys -',
    '3 x: 1',
    '3 y: no elements',
    '2 a: 3 elements -',
    '3 0: true',
    '3 1: null',
    String.raw`3 2: "text \"q\""`,
    '2 c.d: no keys',
  ])
  const rows = listTreeRows(root, { open: new Set(['$']), shown: new Map() })
  t.same(
    rows.map(({ id }) => id),
    ['$', 'b', 'a', '["c.d"]'],
  )
  t.match(rows[2], { place: 2, siblings: 3, level: 2 })
})

t.test('Long lists show a hundred entries, and more when they are wanted', async t => {
  const root = Array.from({ length: 100_000 }, (_, i) => i)
  t.equal(draw(root, ['$']).length, 102)
  t.equal(draw(root, ['$']).at(-1), '2 more 99900')
  t.equal(draw(root, ['$'], [['$', 200]]).length, 202)
  t.same(draw([1, 2], ['$']).slice(1), ['2 0: 1', '2 1: 2'])
})

t.test('Deep, wide and long documents open at once with few rows', async t => {
  let deep: unknown = 'end'
  for (let i = 0; i < 500; i++) deep = { a: deep }
  const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`key ${i}`, { i }]))
  const long = { text: 'x'.repeat(200_000), [`k${'y'.repeat(5_000)}`]: 1 }
  for (const root of [
    deep,
    wide,
    long,
    [],
    {},
    'text',
    null,
    JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}'),
  ]) {
    const rows = listTreeRows(root, { open: listFirstOpen(root), shown: new Map() })
    t.ok(rows.length >= 1 && rows.length <= 130, `${rows.length} rows`)
    for (const row of rows) if (row.kind === 'value') t.ok(row.text.length <= 120 && row.name.length <= 120)
  }
  t.equal(listTreeRows('text', NOTHING)[0]!.kind, 'value')
  const all = new Set(listFirstOpen(deep))
  t.ok(all.size >= 10)
})
