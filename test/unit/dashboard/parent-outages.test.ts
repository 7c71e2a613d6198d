import t from 'tap'
import { selectRows } from '../../../control-plane/dashboard/core/board/board.ts'
import { findParentOutages } from '../../../control-plane/dashboard/core/board/parent-outages.ts'
import { sortBoard } from '../../../control-plane/dashboard/core/board/sorted-board.ts'
import { buildRow } from '../../support/dashboard-fixtures.ts'

type Row = ReturnType<typeof buildRow>
const down = (name: string, ...parents: string[]) => buildRow({ name, status: 'down', parents })
const up = (name: string, ...parents: string[]) => buildRow({ name, parents })

const TABLE: [what: string, rows: Row[], outages: Record<string, string[]>][] = [
  ['a parent that is down', [down('shop', 'router'), down('router')], { shop: ['router'] }],
  ['a parent that is up', [down('shop', 'router'), up('router')], {}],
  [
    'a parent that is degraded, paused or has no verdict',
    [
      down('shop', 'a', 'b', 'c'),
      buildRow({ name: 'a', status: 'degraded' }),
      buildRow({ name: 'b', status: 'paused' }),
      buildRow({ name: 'c', status: 'unknown' }),
    ],
    {},
  ],
  ['a parent that was deleted', [down('shop', 'gone')], {}],
  [
    'an ancestor above a parent that is up',
    [down('shop', 'switch'), up('switch', 'router'), down('router')],
    { shop: ['router'] },
  ],
  [
    'the farthest of several ancestors',
    [down('shop', 'switch'), down('switch', 'router'), down('router')],
    { shop: ['router'], switch: ['router'] },
  ],
  ['two parents', [down('shop', 'a', 'b'), down('a'), down('b')], { shop: ['a', 'b'] }],
  [
    'only monitors that are down or degraded have a cause',
    [
      buildRow({ name: 'slow', status: 'degraded', parents: ['router'] }),
      up('fine', 'router'),
      buildRow({ name: 'new', status: 'unknown', parents: ['router'] }),
      down('router'),
    ],
    { slow: ['router'] },
  ],
  ['a circle ends', [down('a', 'b'), down('b', 'a')], { a: ['b'], b: ['a'] }],
  [
    'at most 32 levels',
    [...Array.from({ length: 33 }, (_, i) => (i === 0 ? down('m0', 'm1') : up(`m${i}`, `m${i + 1}`))), down('m33')],
    {},
  ],
]

for (const [what, rows, expected] of TABLE)
  t.test(`The outages of parents: ${what}`, t => {
    const found = findParentOutages(rows, rows)
    t.same(Object.fromEntries(Object.entries(found).map(([id, list]) => [id, list.map(({ name }) => name)])), expected)
    t.end()
  })

t.test('A selection has them when they are requested, also of parents that are not shown', t => {
  const board = sortBoard([down('shop', 'router'), down('router')])
  const only = ({ name }: Row) => name === 'shop'
  const { parentOutages } = selectRows(board, only, { limit: 1, parents: true })
  t.same(parentOutages, { shop: [{ id: 'router', name: 'router' }] })
  t.same(selectRows(board, only, { limit: 1 }).parentOutages, {})
  t.end()
})
