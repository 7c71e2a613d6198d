import t from 'tap'
import { type BoardIndex, createBoardIndex } from '../../../control-plane/dashboard/browser/board.ts'
import type { Execute, OperationResponse } from '../../../control-plane/dashboard/core/operations.ts'
import { boardOf } from '../../support/dashboard-fixtures.ts'

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
  index.subscribe(() => shown.push(statusOf(index)))
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

const statusOf = ({ rows }: BoardIndex) => rows?.get('shop')?.status ?? null
const boardWith = (status: 'up' | 'down' | 'degraded', revision: string, reset = false) =>
  boardOf([{ id: 'shop', name: 'Shop', status }], { revision, reset })

async function startUp() {
  const started = startIndex()
  const first = started.index.refresh()
  await started.answer(boardWith('up', '1', true))
  await first
  started.shown.length = 0
  return started
}

t.test('An answer that is older than an event is not shown before the next one', async t => {
  const { index, asked, shown, answer } = await startUp()
  const reading = index.refresh()
  await new Promise(setImmediate)
  index.apply([boardWith('down', '3')])
  t.equal(statusOf(index), 'down')
  await answer(boardWith('up', '2'))
  t.equal(statusOf(index), 'down', 'the older answer does not take the status back')
  await answer(boardWith('down', '3'))
  await reading
  t.same(shown, ['down', 'down'])
  t.same(asked, [null, '1', '2'])
  t.equal(index.error, null)
})

t.test('With an event during each read, the second answer is shown', async t => {
  const { index, shown, answer, asked } = await startUp()
  const reading = index.refresh()
  for (const revision of ['2', '3', '4']) {
    await new Promise(setImmediate)
    index.apply([])
    await answer(boardWith('degraded', revision))
  }
  t.equal(statusOf(index), 'degraded')
  t.equal(shown.length, 4, 'three events, and one of three answers')
  await answer(boardWith('up', '5'))
  await reading
  t.equal(statusOf(index), 'up')
  t.same(asked, [null, '1', '2', '3', '4'])
})

t.test('When the next read fails, the older answer is not shown, and is read again', async t => {
  const { index, answer, fail, asked } = await startUp()
  const reading = index.refresh()
  await new Promise(setImmediate)
  index.apply([boardWith('down', '3')])
  await answer(boardWith('up', '2'))
  await fail()
  await reading
  t.match(index.error, { status: 503 })
  t.equal(statusOf(index), 'down')
  const again = index.refresh()
  await answer(boardWith('down', '3'))
  await again
  t.same(asked, [null, '1', '2', '1'])
})

t.test('An event during the first read is read after it', async t => {
  const { index, answer, asked, shown } = startIndex()
  const reading = index.refresh()
  await new Promise(setImmediate)
  index.apply([boardWith('down', '2')])
  await answer(boardWith('up', '1', true))
  t.same(shown, [])
  await answer(boardWith('down', '2'))
  await reading
  t.same(shown, ['down'])
  t.same(asked, [null, '1'])

  const failing = startIndex()
  void failing.index.refresh()
  await new Promise(setImmediate)
  void failing.index.renew()
  await failing.answer(boardWith('up', '1', true))
  await failing.fail()
  t.equal(statusOf(failing.index), 'up', 'without rows, older ones are shown')
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
  t.equal(statusOf(index), 'degraded')
  t.same(asked, [null, '1', '2'])
  const both = [index.renew(), index.renew(), index.refresh()]
  await answer(boardWith('degraded', '3'))
  await Promise.all(both)
  t.equal(asked.length, 4, 'calls at the same time share a read')
  const unused = startIndex()
  t.equal(unused.index.renew(), null)
  t.same(unused.asked, [], 'nothing before the first use')
})
