import t from 'tap'
import {
  createDeltaQueue,
  createSnapshotQueue,
  MAX_CHUNK_BYTES,
  MAX_PENDING_RUNS,
  queueMonitor,
  queueRun,
  takeMessage,
} from '../../../../control-plane/monitoring/fleet/sessions/sync-queue.ts'
import { RegionState } from '../../../../proto/gen/probe/v1/fleet.ts'
import { Trigger } from '../../../../proto/gen/probe/v1/result.ts'

const ids = (count: number) => Array.from({ length: count }, (_, i) => `m${i}`)
const small = () => 100
const buildRun = (monitorId: string) => ({
  runId: `run of ${monitorId}`,
  monitorId,
  trigger: Trigger.RUN_NOW,
  scheduledAtMs: 1,
  spec: undefined,
})
const at = (revision: number, epoch = 1) => ({ revision, epoch })

t.test('An empty snapshot is one message, so that the probe removes its assignments', async t => {
  const syncQueue = createSnapshotQueue(at(9, 4), [])
  t.match(takeMessage(syncQueue, at(9, 4), small), { ids: [], isSnapshot: true, isLast: true, revision: 9, epoch: 4 })
  t.equal(takeMessage(syncQueue, at(9, 4), small), null)
})

t.test('Changes during a snapshot follow it', async t => {
  const syncQueue = createSnapshotQueue(at(9), ids(700))
  t.match(takeMessage(syncQueue, at(9), small), { isSnapshot: true, isLast: false })
  queueMonitor(syncQueue, 'm3', 'changed')
  const last = takeMessage(syncQueue, at(12), small)
  t.match(last, { isSnapshot: true, isLast: true, revision: 9 }, 'the snapshot has the revision of its beginning')
  t.match(takeMessage(syncQueue, at(12), small), { ids: [['m3', 'changed']], isSnapshot: false, revision: 12 })
})

t.test('A large delta has its revision only in the last chunk', async t => {
  const syncQueue = createDeltaQueue(at(5), 1, [])
  for (const id of ids(600)) queueMonitor(syncQueue, id, 'moved')
  t.match(takeMessage(syncQueue, at(8, 2), small), { isLast: false, revision: 5, epoch: 1 })
  t.match(takeMessage(syncQueue, at(8, 2), small), { isLast: true, revision: 8, epoch: 2 })
})

t.test('The epoch follows the assignments that it moved, and region states follow the epoch', async t => {
  const syncQueue = createDeltaQueue(at(5), 1, [])
  syncQueue.states.set('m0', RegionState.FAILING)
  queueMonitor(syncQueue, 'm0', 'moved')
  t.equal(takeMessage(syncQueue, at(5, 2), small)?.kind, 'assignments')
  t.same(takeMessage(syncQueue, at(5, 2), small), { kind: 'epoch', epoch: 2 })
  t.same(takeMessage(syncQueue, at(5, 2), small), { kind: 'states', states: [['m0', RegionState.FAILING]] })
  t.equal(takeMessage(syncQueue, at(5, 2), small), null)
})

t.test('An immediate check follows its assignment, and each is sent exactly once', async t => {
  const syncQueue = createSnapshotQueue(at(9), ids(700))
  for (const id of ids(100)) queueRun(syncQueue, buildRun(id))
  queueRun(syncQueue, buildRun('m0'))
  queueMonitor(syncQueue, 'm0', 'changed')
  t.match(takeMessage(syncQueue, at(9), small), { isSnapshot: true, isLast: false })
  t.match(takeMessage(syncQueue, at(9), small), { isSnapshot: true, isLast: true })
  t.match(takeMessage(syncQueue, at(9), small), { ids: [['m0', 'changed']] })
  for (const id of ids(100)) t.same(takeMessage(syncQueue, at(9), small), { kind: 'run', run: buildRun(id) })
  t.equal(takeMessage(syncQueue, at(9), small), null)
})

t.test('The number of pending immediate checks is limited', async t => {
  const syncQueue = createDeltaQueue(at(5), 1, [])
  t.ok(ids(MAX_PENDING_RUNS).every(id => queueRun(syncQueue, buildRun(id))))
  t.equal(queueRun(syncQueue, buildRun('one more')), false)
  t.equal(syncQueue.runs.size, MAX_PENDING_RUNS)
})

t.test('A change takes precedence over a move, and several changes become one', async t => {
  const syncQueue = createDeltaQueue(at(5), 1, ['m1'])
  queueMonitor(syncQueue, 'm1', 'moved')
  queueMonitor(syncQueue, 'm2', 'moved')
  queueMonitor(syncQueue, 'm2', 'changed')
  queueMonitor(syncQueue, 'm3', 'moved')
  t.match(takeMessage(syncQueue, at(6), small), {
    ids: [
      ['m1', 'changed'],
      ['m2', 'changed'],
      ['m3', 'moved'],
    ],
  })
})

t.test('A chunk has at most 1 MiB, but at least one assignment', async t => {
  const syncQueue = createSnapshotQueue(at(1), ['m0', 'm1', 'm2', 'm3'])
  const sizes: Record<string, number> = {
    m0: MAX_CHUNK_BYTES * 2,
    m1: MAX_CHUNK_BYTES / 2,
    m2: MAX_CHUNK_BYTES / 2,
    m3: 1,
  }
  const taken = [1, 2, 3].map(() => takeMessage(syncQueue, at(1), id => sizes[id]!))
  t.same(
    taken.map(piece => piece?.kind === 'assignments' && piece.ids.map(([id]) => id)),
    [['m0'], ['m1', 'm2'], ['m3']],
  )
})
