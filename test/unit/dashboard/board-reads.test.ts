import t from 'tap'
import { type BoardIndex, createBoardIndex } from '../../../control-plane/dashboard/browser/board.ts'
import type { Execute, OperationResponse } from '../../../control-plane/dashboard/core/operations.ts'
import { buildBoard } from '../../support/dashboard-fixtures.ts'

type Board = OperationResponse<'readMonitorBoard'>['data']

/** An index whose answers are given by hand. `shown`: the status of the monitor after each read or event. */
function startIndex() {
  const asked: (string | null)[] = []
  const waiting: ((outcome: object) => void)[] = []
  const execute = (async (_name, args) => {
    asked.push((args as { query?: { since?: string } }).query?.since ?? null)
    return new Promise<never>(resolve => waiting.push(resolve as (outcome: object) => void))
  }) as Execute
  const index = createBoardIndex(execute)
  const shown: (string | null)[] = []
  index.subscribe(() => shown.push(getStatus(index)))
  const give = async (outcome: object) => {
    await new Promise(setImmediate)
    waiting.shift()!(outcome)
    await new Promise(setImmediate)
  }
  return {
    ...{ index, asked, shown },
    answer: (board: Board) => give({ data: { data: board } }),
    fail: () => give({ error: { status: 503, code: 'unavailable', message: 'not now' } }),
  }
}

const getStatus = ({ rows }: BoardIndex) => rows?.get('shop')?.status ?? null
const boardWith = (status: 'up' | 'down' | 'degraded', revision: string, reset = false) =>
  buildBoard([{ id: 'shop', name: 'Shop', status }], { revision, reset })

async function startUp() {
  const started = startIndex()
  const first = started.index.refresh()
  await started.answer(boardWith('up', '1', true))
  await first
  started.shown.length = 0
  return started
}

t.test('An answer that is older than an event does not take the event back', async t => {
  const { index, asked, shown, answer } = await startUp()
  const reading = index.refresh()
  await new Promise(setImmediate)
  index.apply([boardWith('down', '3')])
  t.equal(getStatus(index), 'down')
  await answer(boardWith('up', '2'))
  t.equal(getStatus(index), 'down', 'the older answer does not take the status back')
  await answer(boardWith('down', '3'))
  await reading
  t.same(shown, ['down', 'down', 'down'])
  t.same(asked, [null, '1', '2'])
  t.equal(index.error, null)
})

t.test('Of two events during a read the last one is shown until an answer contains both', async t => {
  const { index, asked, shown, answer } = await startUp()
  const reading = index.refresh()
  await new Promise(setImmediate)
  index.apply([boardWith('down', '3')])
  await answer(boardWith('up', '2'))
  index.apply([boardWith('up', '5')])
  await answer(boardWith('down', '4'))
  await answer(boardWith('up', '5'))
  await reading
  t.same(shown, ['down', 'down', 'up', 'up', 'up'])
  t.same(asked, [null, '1', '2', '4'])
})

t.test('A monitor that an event removes does not come back with an older answer', async t => {
  const { index, answer } = await startUp()
  const reading = index.refresh()
  await new Promise(setImmediate)
  index.apply([buildBoard([], { revision: '3', reset: false, removed: ['shop'] })])
  await answer(boardWith('down', '2'))
  t.equal(getStatus(index), null)
  await answer(buildBoard([], { revision: '3', reset: false, removed: ['shop'] }))
  await reading
  t.equal(getStatus(index), null)
})

t.test('The index knows since when results are not read, also when no monitor has changed', async t => {
  const { index, answer } = await startUp()
  for (const unread_since of ['2026-11-21T13:00:00.000Z', null]) {
    const reading = index.refresh()
    await answer(buildBoard([], { revision: '2', unread_since }))
    await reading
    t.equal(index.sorted()!.unreadSince, unread_since)
    t.equal(index.sorted()!.rows.length, 1)
  }
})

t.test('An event that is older than an answer is replaced by the next one', async t => {
  const { index, answer } = await startUp()
  const reading = index.refresh()
  await new Promise(setImmediate)
  index.apply([boardWith('degraded', '2')])
  await answer(boardWith('down', '3'))
  t.equal(getStatus(index), 'degraded')
  await answer(buildBoard([], { revision: '3', reset: false }))
  await reading
  t.equal(getStatus(index), 'down')
})

t.test('With an event during each read, each answer is shown', async t => {
  const { index, shown, answer, asked } = await startUp()
  const reading = index.refresh()
  for (const revision of ['2', '3', '4']) {
    await new Promise(setImmediate)
    index.apply([])
    await answer(boardWith('degraded', revision))
  }
  t.equal(getStatus(index), 'degraded')
  t.equal(shown.length, 6, 'three events and three answers')
  await answer(boardWith('up', '5'))
  await reading
  t.equal(getStatus(index), 'up')
  t.same(asked, [null, '1', '2', '3', '4'])
})

t.test('When the next read fails, the event stays, and is read again', async t => {
  const { index, answer, fail, asked } = await startUp()
  const reading = index.refresh()
  await new Promise(setImmediate)
  index.apply([boardWith('down', '3')])
  await answer(boardWith('up', '2'))
  await fail()
  await reading
  t.match(index.error, { status: 503 })
  t.equal(getStatus(index), 'down')
  const again = index.refresh()
  await answer(boardWith('down', '3'))
  await again
  t.same(asked, [null, '1', '2', '2'])
})

t.test('An event during the first read is read after it', async t => {
  const { index, answer, asked, shown } = startIndex()
  const reading = index.refresh()
  await new Promise(setImmediate)
  index.apply([boardWith('down', '2')])
  await answer(boardWith('up', '1', true))
  t.same(shown, ['down'], 'the event came after the request')
  await answer(boardWith('down', '2'))
  await reading
  t.same(shown, ['down', 'down'])
  t.same(asked, [null, '1'])

  const failing = startIndex()
  void failing.index.refresh()
  await new Promise(setImmediate)
  void failing.index.renew()
  await failing.answer(boardWith('up', '1', true))
  await failing.fail()
  t.equal(getStatus(failing.index), 'up', 'without rows, older ones are shown')
  t.match(failing.index.error, { status: 503 })
})

t.test('After an operation the index reads what the read on its way may not contain', async t => {
  const { index, answer, asked } = await startUp()
  const older = index.refresh()
  await new Promise(setImmediate)
  const own = index.renew()
  void index.renew()
  await answer(boardWith('up', '2'))
  await answer(boardWith('degraded', '3'))
  await Promise.all([older, own])
  t.equal(getStatus(index), 'degraded')
  t.same(asked, [null, '1', '2'])
  const both = [index.renew(), index.renew(), index.refresh()]
  await answer(boardWith('degraded', '3'))
  await Promise.all(both)
  t.equal(asked.length, 4, 'calls at the same time share a read')
  const unused = startIndex()
  t.equal(unused.index.renew(), null)
  t.same(unused.asked, [], 'nothing before the first use')
})
