import t from 'tap'
import { applyBoard } from '../../../control-plane/dashboard/browser/board.ts'
import { selectInOrder } from '../../../control-plane/dashboard/core/board/kept-order.ts'
import { sortBoard } from '../../../control-plane/dashboard/core/board/sorted-board.ts'
import { buildBoard } from '../../support/dashboard-fixtures.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e']
const first = applyBoard(
  null,
  buildBoard(
    NAMES.map(name => ({ name })),
    { reset: true },
  ),
)
const shown = sortBoard([...first.values()])

type Change = Parameters<typeof buildBoard>[0]
const select = (change: Change, { removed = [] as string[], limit = 3, groups = false, text = '' } = {}) => {
  const byId = applyBoard(first, buildBoard(change, { removed }))
  const board = sortBoard([...byId.values()])
  const request = { text: '', limit, ...(groups && { groups: { open: null } }) }
  return selectInOrder(board, { shown, byId }, ({ name }) => name.includes(text), request)
}
const listStatuses = (rows: readonly { name: string; status: string }[]) => rows.map(row => `${row.name} ${row.status}`)

t.test('A monitor that changes stays where it is shown, and the page knows that the order is old', async t => {
  t.match(select([]), { oldOrder: null })
  const { rows, oldOrder } = select([{ name: 'b', status: 'down' }])
  t.same(listStatuses(rows), ['a up', 'b down', 'c up'])
  t.same(oldOrder, { hiddenFailing: 0 })
})

t.test('Trouble that the old order hides is counted', async t => {
  const change: Change = [
    { name: 'b', status: 'down' },
    { name: 'd', status: 'down' },
    { name: 'e', status: 'degraded' },
  ]
  const { rows, oldOrder } = select(change)
  t.same(listStatuses(rows), ['a up', 'b down', 'c up'])
  t.same(oldOrder, { hiddenFailing: 2 })
  t.same(listStatuses(select(change, { limit: 5 }).rows), ['a up', 'b down', 'c up', 'd down', 'e degraded'])
})

t.test('A removed monitor leaves the list, a new one is last, and what does not match is not shown', async t => {
  t.same(listStatuses(select([], { removed: ['a'] }).rows), ['b up', 'c up', 'd up'])
  const { rows } = select([{ name: 'ab', status: 'down' }], { limit: 10 })
  t.same(listStatuses(rows), ['a up', 'b up', 'c up', 'd up', 'e up', 'ab down'])
  t.match(select([{ name: 'd', status: 'down' }], { text: 'a' }), { oldOrder: null, matching: 1 })
})

t.test('Groups have the current order', async t => {
  const { groups, oldOrder } = select([{ name: 'b', status: 'down' }], { groups: true })
  t.equal(listStatuses(groups![0]!.rows)[0], 'b down')
  t.equal(oldOrder, null)
})
