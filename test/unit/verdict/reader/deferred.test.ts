import t from 'tap'
import type { VerdictChange } from '../../../../control-plane/verdict/core/decision-actions.ts'
import { createMonitorState } from '../../../../control-plane/verdict/core/rules/state.ts'
import type { MonitorState, StatusTransition } from '../../../../control-plane/verdict/core/types.ts'
import {
  applyDeferredChange,
  type DeferredChanges,
  deferChange,
} from '../../../../control-plane/verdict/reader/commit/deferred.ts'
import {
  loadMonitor,
  type TrackedMonitors,
} from '../../../../control-plane/verdict/reader/counting/tracked-monitors.ts'

const monitorId = '0190a0a0-0000-7000-8000-000000000001'
const state = (atMs: number): MonitorState => ({ ...createMonitorState(monitorId, 1), statusSinceMs: atMs })
const change = (atMs: number): VerdictChange => ({
  monitorId,
  configVersion: 1,
  state: state(atMs),
  transitions: [{ atMs } as StatusTransition],
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

const waiting = (): DeferredChanges => {
  const deferred: DeferredChanges = new Map()
  deferChange(deferred, change(1), state(-1))
  deferChange(deferred, change(2), state(1))
  return deferred
}

t.test('Deferred changes of a monitor are merged, with all transitions in order', async t => {
  const { change: all, rows } = waiting().get(monitorId)!
  t.equal(rows, 2)
  t.same(all?.state, state(2))
  t.same(
    all?.transitions.map(({ atMs }) => atMs),
    [1, 2],
  )
})

t.test('A monitor is loaded as it will be when its deferred change is stored', async t => {
  t.same(applyDeferredChange(waiting(), monitorId, row), { row: { ...row, state: state(2) }, isVoid: false })
  t.same(applyDeferredChange(waiting(), monitorId, { ...row, state: null }).row?.state, state(2), 'also a new one')
  t.same(applyDeferredChange(new Map(), monitorId, row), { row, isVoid: false })
})

t.test(
  'A monitor that was paused, changed or deleted meanwhile gives up what waits, and its rows are still counted',
  async t => {
    for (const other of [{ ...row, isPaused: true }, { ...row, isDeleted: true }, { ...row, configVersion: 2 }, null]) {
      const deferred = waiting()
      // an edit keeps what was counted before the change, even if it was not stored yet
      const known = other?.configVersion === 2 ? { ...other, state: state(-1) } : other
      t.same(applyDeferredChange(deferred, monitorId, other), { row: known, isVoid: true })
      t.match(deferred.get(monitorId), { change: null, rows: 2 })
      t.same(applyDeferredChange(deferred, monitorId, other), { row: other, isVoid: false }, 'once')
      deferChange(deferred, { ...change(3), configVersion: 2 }, state(2))
      t.match(deferred.get(monitorId), { change: { transitions: [{ atMs: 3 }] }, rows: 3, before: state(2) })
    }
  },
)

t.test('A monitor that was paused and resumed in the meantime begins again without its deferred change', async t => {
  t.same(applyDeferredChange(waiting(), monitorId, { ...row, configVersion: 2, state: null }).row?.state, null)
})

t.test('A first verdict that waits for locked rows counts as shown after a restart', async t => {
  const decided: MonitorState = { ...state(1), status: 'down' }
  const deferred: DeferredChanges = new Map()
  deferChange(
    deferred,
    { ...change(1), state: decided, transitions: [{ from: null, to: 'down' } as StatusTransition] },
    null,
  )
  const memory: TrackedMonitors = new Map()
  const { row: known } = applyDeferredChange(deferred, monitorId, { ...row, state: null })
  loadMonitor(memory, monitorId, known, { lookedForVersion: 1, isDiscarded: false })
  t.same(memory.get(monitorId)?.state, decided)
})
