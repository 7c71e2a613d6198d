import t from 'tap'
import { selectRows } from '../../../control-plane/dashboard/core/board/board.ts'
import { groupByTag, MAX_GROUP_ROWS } from '../../../control-plane/dashboard/core/board/board-groups.ts'
import { sortBoard } from '../../../control-plane/dashboard/core/board/sorted-board.ts'
import { ago, buildBoard, buildRow, VIEWER } from '../../support/dashboard-fixtures.ts'
import { renderScreen, toText } from '../../support/dashboard-screens.tsx'

const select = (rows: ReturnType<typeof buildRow>[], open: string[] | null = null) =>
  selectRows(sortBoard(rows), () => true, { limit: 60, groups: { open } }).groups!
const ROWS = [
  buildRow({ name: 'Mail', tags: ['calm'] }),
  buildRow({ name: 'Till', tags: ['shop', 'berlin'], status: 'down' }),
  buildRow({ name: 'Search', tags: ['shop'], status: 'degraded' }),
  buildRow({ name: 'Front page', tags: ['shop'] }),
  buildRow({ name: 'Loose' }),
  buildRow({ name: 'Paused', tags: ['archive'], status: 'paused' }),
]

t.test('Groups with trouble come first, then by name, those without a tag last', t => {
  const groups = select(ROWS)
  t.same(
    groups.map(({ tag }) => tag),
    ['berlin', 'shop', 'archive', 'calm', null],
  )
  const shop = groups[1]!
  t.same(
    shop.rows.map(({ name }) => name),
    ['Till', 'Search', 'Front page'],
    'trouble first within a group',
  )
  t.same([shop.total, shop.counts.down, shop.counts.up], [3, 1, 1])
  t.end()
})

t.test('Every monitor is in a group, and in one for each of its tags', t => {
  const groups = select(ROWS, ['berlin', 'shop', 'archive', 'calm', ''])
  const names = groups.flatMap(group => group.rows.map(({ name }) => name))
  t.same([...new Set(names)].sort(), ROWS.map(({ name }) => name).sort())
  t.equal(names.filter(name => name === 'Till').length, 2)
  t.same(
    groupByTag([buildRow({ name: 'a', tags: ['x', 'x'] })], null)[0]?.total,
    1,
    'a tag that is there twice counts once',
  )
  t.end()
})

t.test('Groups with trouble are open unless the address says which are', t => {
  const listOpen = (open: string[] | null) => select(ROWS, open).flatMap(({ tag, isOpen }) => (isOpen ? [tag] : []))
  t.same(listOpen(null), ['berlin', 'shop'])
  t.same(listOpen(['calm', '']), ['calm', null])
  t.same(listOpen(['\n']), [])
  t.equal(select(ROWS, [])[1]!.rows.length, 0, 'a closed group has no rows')
  t.end()
})

t.test('10,000 monitors in trouble open few groups, and each shows its number', t => {
  const many = Array.from({ length: 10_000 }, (_, i) =>
    buildRow({ name: `m${i}`, id: `m${i}`, status: 'down', tags: [`t${i % 100}`] }),
  )
  const groups = select(many)
  t.equal(groups.length, 100)
  t.ok(groups.every(({ total }) => total === 100))
  t.equal(groups[0]!.rows.length, MAX_GROUP_ROWS)
  t.ok(groups.flatMap(({ rows }) => rows).length <= 250)
  t.end()
})

t.test('The grouped list opens and closes groups by links, and keeps the filter', t => {
  const board = buildBoard([
    { name: 'Till', status: 'down', since: ago(5), tags: ['shop'] },
    { name: 'Mail', tags: ['office'] },
  ])
  const { html } = renderScreen('/monitors?group=tag&q=i', { board })
  const text = toText(html)
  t.match(text, /shop\s+1 down/)
  t.match(html, /href="\/monitors\?group=tag&amp;q=i&amp;open=shop&amp;open=office"[^>]*aria-expanded="false"/)
  t.match(html, /href="\/monitors\?group=tag&amp;q=i&amp;open=%0A"[^>]*aria-expanded="true"/)
  t.match(html, 'href="/monitors?q=is:down&amp;group=tag"', 'the counts keep the grouping')
  t.match(html, '<input type="hidden" name="group" value="tag"', 'also without scripts')
  t.match(html, /href="\/monitors\?q=i"[^>]*>One list/)
  t.equal(html.split('aria-rowindex').length - 1, 1)
  t.equal(renderScreen('/monitors?group=tag', { board, me: VIEWER }).html.split('aria-rowindex').length - 1, 1)
  t.end()
})
