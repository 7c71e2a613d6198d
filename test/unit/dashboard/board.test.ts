import t from 'tap'
import { applyBoard, createBoardIndex } from '../../../control-plane/dashboard/browser/board.ts'
import { selectRows, toBoardRows } from '../../../control-plane/dashboard/core/board/board.ts'
import type { BoardRow } from '../../../control-plane/dashboard/core/board/board-row.ts'
import { sortBoard } from '../../../control-plane/dashboard/core/board/sorted-board.ts'
import type { Execute, OperationResponse } from '../../../control-plane/dashboard/core/operations.ts'
import { buildBoard, buildRow } from '../../support/dashboard-fixtures.ts'

type Board = OperationResponse<'readMonitorBoard'>['data']

const everything = () => true
const listNames = (rows: Iterable<BoardRow>) => [...rows].map(({ name }) => name)

t.test('Columns become rows', t => {
  const board = buildBoard([
    { id: 'a', name: 'Shop', status: 'down', since: '2026-11-21T12:00:00.000Z', tags: ['prod'], cause: 'refused' },
    {
      silencedUntil: '2026-11-21T12:00:00.000Z',
      id: 'b',
      name: 'Mail',
      type: 'heartbeat',
      status: null,
      votes: {},
      issue: 'heartbeat_interval is required',
      parents: ['a'],
    },
    { id: 'c', name: 'Old', status: 'up', isPaused: true },
  ])
  t.same(toBoardRows(board), [
    {
      ...{ id: 'a', name: 'Shop', type: 'http', status: 'down', sinceMs: Date.parse('2026-11-21T12:00:00Z') },
      ...{ tags: ['prod'], bars: [{ name: 'us-east', state: 'ok' }], cause: 'refused', issue: null, parents: [] },
      silencedUntilMs: null,
    },
    {
      ...{
        id: 'b',
        name: 'Mail',
        type: 'heartbeat',
        status: 'unknown',
        sinceMs: null,
        tags: [],
        bars: [],
        cause: null,
        issue: 'heartbeat_interval is required',
        parents: ['a'],
        silencedUntilMs: Date.parse('2026-11-21T12:00:00Z'),
      },
    },
    {
      ...{ id: 'c', name: 'Old', type: 'http', status: 'paused', sinceMs: null, tags: [] },
      ...{ bars: [{ name: 'us-east', state: 'ok' }], cause: null, issue: null, parents: [] },
      silencedUntilMs: null,
    },
  ])
  t.end()
})

t.test('Monitors that cannot be checked are counted, five are listed; regions count their monitors', t => {
  const region = (name: string) => ({ name, state: 'ok' as const })
  const broken = Array.from({ length: 7 }, (_, i) =>
    buildRow({ name: `Broken ${i}`, issue: 'url is required', bars: [] }),
  )
  const rows = [
    ...broken,
    buildRow({ name: 'Shop', bars: [region('us-east'), region('eu-west')] }),
    buildRow({ name: 'Mail', bars: [region('us-east')] }),
    buildRow({ name: 'Paused', status: 'paused', bars: [region('ap-southeast')] }),
  ]
  const { issues, regions } = selectRows(sortBoard(rows), () => false, { limit: 3 })
  t.same([listNames(issues.rows).length, issues.total], [5, 7])
  t.same(regions, { 'us-east': 2, 'eu-west': 1 })
  t.end()
})

t.test('Trouble comes first, the newest trouble before older, then names in natural order', t => {
  const rows = [
    buildRow({ name: 'paused', status: 'paused' }),
    buildRow({ name: 'Shop 10' }),
    buildRow({ name: 'shop 2' }),
    buildRow({ name: 'älter' }),
    buildRow({ name: 'unknown', status: 'unknown', sinceMs: null }),
    buildRow({ name: 'degraded, old', status: 'degraded', sinceMs: 1_000 }),
    buildRow({ name: 'degraded, new', status: 'degraded', sinceMs: 2_000 }),
    buildRow({ name: 'down, unknown since', status: 'down', sinceMs: null }),
    buildRow({ name: 'down, old', status: 'down', sinceMs: 1_000 }),
    buildRow({ name: 'down, new', status: 'down', sinceMs: 2_000 }),
  ]
  const expected = [
    ...['down, new', 'down, old', 'down, unknown since', 'degraded, new', 'degraded, old', 'unknown'],
    ...['älter', 'shop 2', 'Shop 10', 'paused'],
  ]
  t.same(listNames(selectRows(sortBoard(rows), everything, { limit: 100 }).rows), expected)
  t.same(
    listNames(selectRows(sortBoard(rows.toReversed()), everything, { limit: 100 }).rows),
    expected,
    'in any order of the input',
  )
  const twins = [buildRow({ id: 'b', name: 'Twin' }), buildRow({ id: 'a', name: 'Twin' })]
  t.same(
    selectRows(sortBoard(twins), everything, { limit: 2 }).rows.map(({ id }) => id),
    ['a', 'b'],
  )
  t.end()
})

t.test('After a change the order is that of a board that is sorted from the beginning', t => {
  const before = sortBoard(['c', 'B', 'a 10', 'a 9'].map(name => buildRow({ name })))
  t.same(listNames(before.rows), ['a 9', 'a 10', 'B', 'c'])
  const changes: [string, BoardRow[]][] = [
    ['a monitor goes down', [...before.rows].map(row => (row.name === 'B' ? { ...row, status: 'down' } : row))],
    ['a monitor is renamed', [...before.rows].map(row => (row.name === 'B' ? { ...row, name: 'z' } : row))],
    ['a monitor is added', [...before.rows, buildRow({ name: 'b' })]],
    ['a monitor is removed', before.rows.slice(1)],
    ['one is added and one removed', [...before.rows.slice(1), buildRow({ name: '0' })]],
  ]
  for (const [what, rows] of changes) t.same(sortBoard(rows.toReversed(), before), sortBoard(rows.toReversed()), what)
  t.end()
})

t.test('Counts and tags are of all monitors, rows are of those that match, up to the limit', t => {
  const rows = [
    ...Array.from({ length: 5 }, (_, i) => buildRow({ name: `down ${i}`, status: 'down', tags: ['b'] })),
    buildRow({ name: 'up', tags: ['a', 'b'] }),
    buildRow({ name: 'paused', status: 'paused', tags: ['c 10', 'c 9'] }),
  ]
  const selection = selectRows(sortBoard(rows), ({ status }) => status === 'down', { limit: 3 })
  t.same(listNames(selection.rows), ['down 0', 'down 1', 'down 2'])
  t.match(selection, { matching: 5, total: 7, tags: ['a', 'b', 'c 9', 'c 10'] })
  t.same(selection.counts, { down: 5, degraded: 0, unknown: 0, up: 1, paused: 1 })
  t.match(selectRows(sortBoard([]), everything, { limit: 3 }), { rows: [], matching: 0, total: 0, tags: [] })
  t.end()
})

t.test('An answer of changes replaces and removes rows, and a reset replaces all of them', t => {
  const first = applyBoard(null, buildBoard([{ name: 'a' }, { name: 'b' }, { name: 'c' }], { reset: true }))
  t.same(listNames(first.values()), ['a', 'b', 'c'])
  const changed = applyBoard(first, buildBoard([{ name: 'b', status: 'down' }, { name: 'd' }], { removed: ['a', 'x'] }))
  t.same(listNames(changed.values()).sort(), ['b', 'c', 'd'])
  t.equal(changed.get('b')?.status, 'down')
  t.equal(first.get('b')?.status, 'up', 'the rows before stay as they are')
  t.same(listNames(applyBoard(changed, buildBoard([{ name: 'e' }], { reset: true })).values()), ['e'])
  t.same(listNames(applyBoard(changed, buildBoard([])).values()).sort(), ['b', 'c', 'd'])
  t.end()
})

/** Answers of the API in order, and what it was asked. */
function startAnswers(...answers: (Board | 'away')[]) {
  const asked: unknown[] = []
  const execute = (async (_name, args) => {
    asked.push((args as { query?: { since?: string } }).query?.since ?? null)
    const answer = answers.shift()!
    await Promise.resolve()
    return answer === 'away'
      ? { error: { status: 503, code: 'unavailable', message: 'not now' } }
      : { data: { data: answer } }
  }) as Execute
  return { asked, execute }
}

t.test('The index reads what changed since its revision, and keeps its rows while a read fails', async t => {
  const { asked, execute } = startAnswers(
    buildBoard([{ name: 'a' }, { name: 'b' }], { reset: true, revision: '1' }),
    'away',
    buildBoard([{ name: 'b', status: 'down' }], { revision: '2' }),
    buildBoard([], { revision: '2' }),
  )
  const index = createBoardIndex(execute)
  t.same([index.rows, index.error], [null, null])
  let reads = 0
  const end = index.subscribe(() => reads++)
  await Promise.all([index.refresh(), index.refresh()])
  t.same(asked, [null], 'calls at the same time share a read')
  await index.refresh()
  t.match(index, { error: { status: 503 } })
  t.same(listNames(index.rows!.values()), ['a', 'b'])
  await index.refresh()
  t.equal(index.error, null)
  t.equal(index.rows!.get('b')!.status, 'down')
  t.equal(reads, 3)
  end()
  await index.refresh()
  t.equal(reads, 3, 'no call after the end')
  t.same(asked, [null, '1', '1', '2'])
})
