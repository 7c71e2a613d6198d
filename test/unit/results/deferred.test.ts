import t from 'tap'
import { type Deferred, defer, withDeferred } from '../../../control-plane/results/deferred.ts'
import { type Memory, takeUp } from '../../../control-plane/results/memory.ts'
import type { Change } from '../../../control-plane/verdict/judge.ts'
import { newMonitorState } from '../../../control-plane/verdict/state.ts'
import type { MonitorState, Transition } from '../../../control-plane/verdict/types.ts'

const monitorId = '0190a0a0-0000-7000-8000-000000000001'
const state = (atMs: number): MonitorState => ({ ...newMonitorState(monitorId, 1), statusSinceMs: atMs })
const change = (atMs: number): Change => ({
  monitorId,
  configVersion: 1,
  state: state(atMs),
  transitions: [{ atMs } as Transition],
})
const row = {
  id: monitorId,
  configVersion: 1,
  streaksSince: 1,
  regions: ['us-east'],
  retryCount: 1,
  intervalSeconds: 30,
  timeoutMs: 5_000,
  status: null,
  isPaused: false,
  isDeleted: false,
  state: state(0) as MonitorState | null,
}

const waiting = (): Deferred => {
  const deferred: Deferred = new Map()
  defer(deferred, change(1), state(-1))
  defer(deferred, change(2), state(1))
  return deferred
}

t.test('Changes of a monitor that wait become one, with all transitions in their order', async t => {
  const { change: all, rows } = waiting().get(monitorId)!
  t.equal(rows, 2)
  t.same(all?.state, state(2))
  t.same(
    all?.transitions.map(({ atMs }) => atMs),
    [1, 2],
  )
})

t.test('A monitor is read as it will be once its deferred change is stored', async t => {
  t.same(withDeferred(waiting(), monitorId, row), { row: { ...row, state: state(2) }, isVoid: false })
  t.same(withDeferred(waiting(), monitorId, { ...row, state: null }).row?.state, state(2), 'also a new one')
  t.same(withDeferred(new Map(), monitorId, row), { row, isVoid: false })
})

t.test(
  'A monitor that was paused, changed or deleted meanwhile gives up what waits, and its rows are still counted',
  async t => {
    for (const other of [{ ...row, isPaused: true }, { ...row, isDeleted: true }, { ...row, configVersion: 2 }, null]) {
      const deferred = waiting()
      // an edit keeps what was counted before the change, although it was not stored yet
      const known = other?.configVersion === 2 ? { ...other, state: state(-1) } : other
      t.same(withDeferred(deferred, monitorId, other), { row: known, isVoid: true })
      t.match(deferred.get(monitorId), { change: null, rows: 2 })
      t.same(withDeferred(deferred, monitorId, other), { row: other, isVoid: false }, 'once')
      defer(deferred, { ...change(3), configVersion: 2 }, state(2))
      t.match(deferred.get(monitorId), { change: { transitions: [{ atMs: 3 }] }, rows: 3, before: state(2) })
    }
  },
)

t.test('A monitor that was paused and resumed meanwhile begins again, whatever waited', async t => {
  t.same(withDeferred(waiting(), monitorId, { ...row, configVersion: 2, state: null }).row?.state, null)
})

t.test('A first verdict that waits for locked rows counts as shown after a restart', async t => {
  const decided: MonitorState = { ...state(1), status: 'down' }
  const deferred: Deferred = new Map()
  defer(deferred, { ...change(1), state: decided, transitions: [{ from: null, to: 'down' } as Transition] }, null)
  const memory: Memory = new Map()
  const { row: known } = withDeferred(deferred, monitorId, { ...row, state: null })
  takeUp(memory, monitorId, known, { lookedForVersion: 1, isDiscarded: false })
  t.same(memory.get(monitorId)?.state, decided)
})
