import t from 'tap'
import { setClockSource } from '../../../../control-plane/foundation/platform/time/clock.ts'
import { createBoard, hashBoard, setRow } from '../../../../control-plane/insight/live/board/board.ts'
import { buildBoardJson } from '../../../../control-plane/insight/live/board/board-body.ts'
import { type BoardSource, buildFragments } from '../../../../control-plane/insight/live/board/board-row.ts'
import { createWallBoardReader } from '../../../../control-plane/insight/live/wall-links/actions.ts'

const position = { snapshot: '1:1:', atMs: 0 }
const SOURCE: BoardSource = {
  ...{ id: 'a', name: 'Shop', type: 'http', status: 'up', statusChangedAt: null, isPaused: false, tags: null },
  ...{
    regions: ['us-east', 'eu-west'],
    url: 'https://shop.example/',
    keyword: null,
    heartbeatInterval: null,
    isFromDataSource: false,
    isUnchecked: false,
  },
  ...{ voters: null, states: null, held: null, cause: null, parents: [], silencedUntil: null },
}
const [VOTES, CAUSE] = [7, 8]
const buildRow = (change: Partial<BoardSource>) =>
  buildFragments({ ...SOURCE, ...change }).map(text => JSON.parse(text))

t.test('A region votes when it has a state that is not in doubt', async t => {
  const voters = ['us-east', 'eu-west', 'ap-southeast']
  const rows: [Partial<BoardSource>, object][] = [
    [{}, { 'us-east': 'none', 'eu-west': 'none' }],
    [
      { voters, states: ['failing', 'pending', 'ok'] },
      { 'us-east': 'failing', 'eu-west': 'none' },
    ],
    [
      { voters, states: ['failing', 'ok', 'ok'], held: ['us-east'] },
      { 'us-east': 'none', 'eu-west': 'ok' },
    ],
    [
      { voters, states: ['ok', 'ok', 'ok'], isPaused: true },
      { 'us-east': 'none', 'eu-west': 'none' },
    ],
    [
      { voters, states: ['ok', 'ok', 'ok'], isUnchecked: true },
      { 'us-east': 'none', 'eu-west': 'none' },
    ],
    [{ type: 'heartbeat', voters: ['heartbeat'], states: ['failing'] }, { heartbeat: 'failing' }],
    [{ isFromDataSource: true, voters: ['data-source'], states: ['ok'] }, { 'data-source': 'ok' }],
  ]
  for (const [change, votes] of rows) t.same(buildRow(change)[VOTES], votes)
})

t.test('The cause is short, and null while nothing is wrong', async t => {
  const cause = { error: null, statusCode: 0, responseTimeMs: 0 }
  const rows: [Partial<BoardSource>, string | null][] = [
    [{ cause: { ...cause, statusCode: 503 } }, null],
    [{ status: 'down', cause: { ...cause, statusCode: 503, responseTimeMs: 20 } }, 'status 503'],
    [{ status: 'down', cause: { ...cause, error: { code: 'timeout', message: '' } } }, 'timeout'],
    [
      { status: 'down', cause: { ...cause, error: { code: 'refused', message: 'connection refused' } } },
      'connection refused',
    ],
    [{ status: 'degraded', cause: { ...cause, statusCode: 200, responseTimeMs: 812 } }, '812 ms'],
    [{ status: 'down', cause }, 'no answer'],
    [{ status: 'down' }, null],
    [{ status: null, isUnchecked: true }, 'not checked'],
    [{ status: null }, null],
    [{ status: 'down', cause: { ...cause, error: { code: 'x', message: 'y'.repeat(500) } } }, `${'y'.repeat(119)}…`],
  ]
  for (const [change, text] of rows) t.equal(buildRow(change)[CAUSE], text)
})

t.test('The hash depends on the content alone', async t => {
  const [one, two] = [createBoard(position), createBoard({ snapshot: '5:9:7', atMs: 1 })]
  const rows = ['a', 'b', 'c'].map(id => buildFragments({ ...SOURCE, id }))
  for (const row of rows) setRow(one, row[0]!, row, 1)
  for (const row of rows.toReversed()) setRow(two, row[0]!, row, 2)
  t.equal(hashBoard(one, ''), hashBoard(two, ''))
  t.not(hashBoard(one, ''), hashBoard(one, 'us-east'))
  setRow(two, 'd', buildFragments({ ...SOURCE, id: 'd' }), 3)
  t.not(hashBoard(one, ''), hashBoard(two, ''))
  setRow(two, 'd', null, 4)
  t.equal(hashBoard(one, ''), hashBoard(two, ''))
  t.equal(one.bytes, two.bytes)
})

t.test('A row with the same values keeps its version', async t => {
  const board = createBoard(position)
  setRow(board, 'a', buildFragments(SOURCE), 1)
  setRow(board, 'a', buildFragments({ ...SOURCE }), 2)
  t.equal(board.rows.get('a')!.version, 1)
  setRow(board, 'a', buildFragments({ ...SOURCE, name: 'Other' }), 3)
  t.equal(board.rows.get('a')!.version, 3)
  setRow(board, 'unknown', null, 4)
  t.equal(board.rows.size, 1)
})

const SCOPE = { projectId: 'p', position, unreadSince: null }
/** All results are read. */
const readUnreadSince = async () => null

t.test('An answer has all rows, or the requested ones and those that are gone', async t => {
  const board = createBoard(position)
  for (const id of ['a', 'b']) setRow(board, id, buildFragments({ ...SOURCE, id }), 1)
  const build = async (ids: string[] | null) =>
    JSON.parse(await buildBoardJson(board, { ...SCOPE, ids, regionsWithoutProbe: ['eu-west'] }, async () => {}))
  const whole = await build(null)
  t.match(whole, { reset: true, removed: [], regions_without_probe: ['eu-west'], monitors: { id: ['a', 'b'] } })
  t.match(await build(['b', 'gone']), { reset: false, removed: ['gone'], monitors: { id: ['b'], name: ['Shop'] } })
  t.same((await build([])).monitors.id, [])
})

t.test(
  'Screens that read a wall link at the same time cause one reading of the board, and a failure is not kept',
  async t => {
    const link = { id: 'l1', projectId: 'p1', name: 'Office', query: '', lastUsedAt: null }
    const db = { raw: async () => ({ rows: [link], rowCount: 1 }) }
    let [reads, isBroken] = [0, true]
    const read = async () => {
      reads++
      if (isBroken) throw new Error('no database')
      return createBoard(position)
    }
    const readBoard = createWallBoardReader({ db: db as never, boards: { read } as never, readUnreadSince })
    const see = () => readBoard('A'.repeat(32), '203.0.113.0')
    const failed = await Promise.allSettled([see(), see()])
    t.match(failed, Array(2).fill({ status: 'rejected', reason: { message: 'no database' } }))
    isBroken = false
    reads = 0
    t.match(await Promise.all([see(), see(), see()]), Array(3).fill({ name: 'Office' }))
    t.equal(reads, 1)
  },
)

t.test('A board is read again after 5 s also when the wall clock was set back', async t => {
  const link = { id: 'l1', projectId: 'p1', name: 'Office', query: '', lastUsedAt: null }
  const db = { raw: async () => ({ rows: [link], rowCount: 1 }) }
  const wallMs = Date.UTC(2026, 10, 21)
  let [reads, passedMs, setBackMs] = [0, 0, 0]
  setClockSource({ nowMs: () => wallMs + passedMs - setBackMs })
  t.teardown(() => setClockSource({ nowMs: () => null }))
  const read = async () => {
    reads++
    return createBoard(position)
  }
  const tools = { db: db as never, boards: { read } as never, readUnreadSince, monotonicMs: () => passedMs }
  const readBoard = createWallBoardReader(tools)
  const see = () => readBoard('A'.repeat(32), '203.0.113.0')
  t.equal((await see())?.atMs, wallMs)
  setBackMs = 3_600_000
  passedMs = 4_999
  await see()
  t.equal(reads, 1, 'kept for 5 s')
  passedMs = 5_000
  t.equal((await see())?.atMs, wallMs + passedMs - setBackMs, 'the time of the wall clock is shown')
  t.equal(reads, 2)
})
