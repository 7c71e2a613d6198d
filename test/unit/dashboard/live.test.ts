import { QueryClient, QueryObserver } from '@tanstack/query-core'
import t, { type Test } from 'tap'
import { createBoardIndex } from '../../../control-plane/dashboard/browser/board.ts'
import { gatherChanges, type LiveChange, refreshAfter } from '../../../control-plane/dashboard/browser/server/live.ts'
import { createCache, prefetch, readAllAgain } from '../../../control-plane/dashboard/browser/server/queries.ts'
import { read } from '../../../control-plane/dashboard/core/operations.ts'
import { buildBoard } from '../../support/dashboard-fixtures.ts'
import { waitFor } from '../../support/wait.ts'

const change = (kind: LiveChange['kind'], ids: string[] | null = null): LiveChange => ({ kind, ids, board: null })

t.test('Changes of one moment are passed on together, later ones by themselves', async t => {
  const passed: string[][] = []
  let onPassed = () => {}
  const next = () =>
    new Promise<void>(resolve => {
      onPassed = resolve
    })
  const gather = gatherChanges(changes => {
    passed.push(changes.map(({ kind }) => kind))
    onPassed()
  })
  const first = next()
  gather(change('board'))
  gather(change('incident'))
  t.same(passed, [], 'in a task of its own')
  await first
  const second = next()
  gather(change('delivery'))
  await second
  t.same(passed, [['board', 'incident'], ['delivery']])
})

t.test('Changes refresh what depends on one of them, each read once', async t => {
  const reads = {
    monitor: ['readMonitor', { path: { id: 'a' } }],
    other: ['readMonitor', { path: { id: 'b' } }],
    summary: ['readAnalyticsSummary', {}],
    incidents: ['listIncidents', {}],
    ofMonitor: ['listIncidents', { query: { monitor_id: 'a' } }],
    timeline: ['readIncidentTimeline', { path: { id: 'i' } }],
    otherTimeline: ['readIncidentTimeline', { path: { id: 'j' } }],
    channels: ['listAlertChannels', {}],
  }
  const cases: [LiveChange[], string[]][] = [
    [[change('board', ['a'])], ['monitor', 'summary']],
    [
      [change('board', ['a']), change('incident', ['i'])],
      ['monitor', 'summary', 'incidents', 'ofMonitor', 'timeline'],
    ],
    [[change('board')], ['monitor', 'other', 'summary']],
    [[change('delivery', ['whd_1'])], ['timeline', 'otherTimeline']],
    [[change('channel', ['c']), change('reset')], Object.keys(reads)],
    [[], []],
  ]
  for (const [changes, expected] of cases) {
    const cache = new QueryClient()
    for (const queryKey of Object.values(reads)) cache.setQueryData(queryKey, 'read')
    let calls = 0
    const invalidate = cache.invalidateQueries.bind(cache)
    cache.invalidateQueries = filters => {
      calls++
      return invalidate(filters)
    }
    refreshAfter(cache, changes)
    const names = Object.entries(reads).filter(([, queryKey]) => cache.getQueryState(queryKey)?.isInvalidated)
    t.same(
      names.map(([name]) => name),
      expected,
      changes.map(({ kind }) => kind).join(', ') || 'no change',
    )
    t.equal(calls, 1, 'a second call would start the same reads again')
    cache.clear()
  }
})

t.test('Boards of several events are applied in their order, and the page is rendered once', async t => {
  const answer = { data: buildBoard([{ id: 'a', name: 'Shop', status: 'up' }]) }
  const index = createBoardIndex(async () => ({ data: answer }) as never)
  index.apply([buildBoard([{ id: 'b', name: 'Mail', status: 'up' }])])
  t.equal(index.rows, null, 'nothing before the first read')
  await index.refresh()
  let renders = 0
  index.subscribe(() => renders++)
  const isNew = { reset: false }
  index.apply([
    { ...buildBoard([{ id: 'a', name: 'Shop', status: 'down' }]), ...isNew },
    { ...buildBoard([{ id: 'b', name: 'Mail', status: 'up' }]), ...isNew },
    { ...buildBoard([{ id: 'a', name: 'Shop', status: 'degraded' }]), ...isNew },
  ])
  t.equal(renders, 1)
  t.same(
    [...index.rows!.values()].map(({ id, status }) => [id, status]),
    [
      ['a', 'degraded'],
      ['b', 'up'],
    ],
  )
})

/** A first read of a monitor on its way. `answers`: those that the server can give, in order; the data are their number. */
function startRead(t: Test) {
  const cache = createCache()
  const monitor = read('readMonitor', { path: { id: 'a' } })
  const queryKey = [monitor.name, monitor.arguments]
  const answers: (() => void)[] = []
  const execute = () => new Promise<{ data: number }>(resolve => answers.push(() => resolve({ data: answers.length })))
  const first = prefetch(cache, execute as never, { monitor })
  /** keeps the monitor up to date, as a page that shows it does */
  const show = () => {
    const { options } = cache.getQueryCache().find({ queryKey })!
    const end = new QueryObserver(cache, options as never).subscribe(() => {})
    t.teardown(() => {
      end()
      cache.clear()
    })
  }
  return { cache, answers, first, show, readShown: () => cache.getQueryData(queryKey) }
}

t.test('Changes that come faster than answers do not keep answers from being shown', async t => {
  const { cache, answers, first, show, readShown } = startRead(t)
  answers[0]!()
  await first
  show()
  for (const kind of ['board', 'reset', 'board'] as const) refreshAfter(cache, [change(kind, ['a'])])
  t.equal(answers.length, 2, 'a read on its way is not started again')
  answers[1]!()
  await waitFor(() => readShown() === 2, { label: 'the answer' })
  await waitFor(() => answers.length === 3, { label: 'a read that began after the last change' })
  answers[2]!()
  await waitFor(() => readShown() === 3, { label: 'the newest answer' })
  await new Promise(resolve => setImmediate(resolve))
  t.equal(answers.length, 3, 'nothing has changed since')
})

t.test('A first read that was on its way during an operation of the page is repeated', async t => {
  const { cache, answers, first, show, readShown } = startRead(t)
  show()
  const again = readAllAgain(cache)
  t.equal(answers.length, 1, 'it cannot be started again')
  answers[0]!()
  await Promise.all([first, again])
  await waitFor(() => answers.length === 2, { label: 'a read that began after the operation' })
  answers[1]!()
  await waitFor(() => readShown() === 2, { label: 'the newest answer' })
})
