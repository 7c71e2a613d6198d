import t from 'tap'
import { createMonitorState } from '../../../../control-plane/verdict/core/rules/state.ts'
import type { MonitorState, VerdictResult } from '../../../../control-plane/verdict/core/types.ts'
import {
  createBatchEffects,
  selectRegionCounts,
} from '../../../../control-plane/verdict/reader/counting/batch-effects.ts'
import {
  addOverdueChanges,
  computeMaxVoteLifetimeMs,
  countHeldMonitors,
  countResult,
  loadMonitor,
  needsReload,
  replayResult,
  restoreStates,
  revertChanges,
  shiftAllTimes,
  startCountingAt,
  type TrackedMonitors,
} from '../../../../control-plane/verdict/reader/counting/tracked-monitors.ts'
import { Outcome, Trigger } from '../../../../shared/checks/result.ts'

const id = '0190a0a0-0000-7000-8000-000000000001'
const stored = {
  id,
  configVersion: 1,
  streaksSince: 1,
  regions: ['us-east'],
  retryCount: 1,
  intervalSeconds: 30,
  timeoutMs: 5_000,
  status: null,
  isPaused: false,
  isDeleted: false,
  state: null as MonitorState | null,
}
const fresh = { lookedForVersion: 1, isDiscarded: false }

const check = (slot: number, up = true): VerdictResult => ({
  region: 'us-east',
  probeId: 'p',
  configVersion: 1,
  epoch: 1,
  scheduledAtMs: slot * 30_000,
  attempt: 1,
  outcome: up ? Outcome.UP : Outcome.DOWN,
  trigger: Trigger.SLOT,
  statusCode: 200,
  responseTimeMs: 1,
  error: null,
})
const at = (slot: number) => slot * 30_000 + 100

function memoryWith(changes: Partial<typeof stored> = {}): TrackedMonitors {
  const memory: TrackedMonitors = new Map()
  loadMonitor(memory, id, { ...stored, ...changes }, fresh)
  return memory
}

t.test('A steady monitor causes no write', async t => {
  const memory = memoryWith()
  countResult(memory, createBatchEffects(), id, check(1), at(1))
  const effects = createBatchEffects()
  for (const slot of [2, 3, 4]) countResult(memory, effects, id, check(slot), at(slot))
  t.equal(effects.changes.size, 0)
  t.same(effects.counts, {
    counted: 3,
    out_of_band: 0,
    history: 0,
    refused_future: 0,
    refused_epoch: 0,
    refused_probe: 0,
  })
})

t.test(
  'Results that a restart reads again move fences, so that a duplicate is history, and are never stored twice',
  async t => {
    const memory = memoryWith()
    const effects = createBatchEffects()
    countResult(memory, effects, id, check(1), at(1))
    const state = memory.get(id)!.state

    const restarted = memoryWith({ state })
    restoreStates(restarted, null)
    for (const slot of [1, 2, 3]) replayResult(restarted, new Map(), id, check(slot), at(slot))
    t.equal(restarted.get(id)!.state.cells[0]!.fence.scheduledAtMs, check(3).scheduledAtMs)
    const again = createBatchEffects()
    countResult(restarted, again, id, check(3), at(4))
    t.equal(again.counts.history, 1)
  },
)

t.test('Several transitions of one monitor are stored in order, with the final state', async t => {
  const memory = memoryWith({ retryCount: 0 })
  const effects = createBatchEffects()
  for (const [slot, up] of [true, false, true].entries()) countResult(memory, effects, id, check(slot, up), at(slot))
  const change = effects.changes.get(id)!
  t.same(
    change.transitions.map(({ to }) => to),
    ['up', 'down', 'up'],
  )
  t.equal(change.state.status, 'up')
})

t.test('A region that fails while others are up is stored once, a minute later', async t => {
  const regions = ['us-east', 'eu-west', 'ap-southeast']
  const memory = memoryWith({ regions, retryCount: 2 })
  for (const region of regions) countResult(memory, createBatchEffects(), id, { ...check(1), region }, at(1))
  const effects = createBatchEffects()
  for (const attempt of [1, 2, 3]) {
    countResult(memory, effects, id, { ...check(2, false), attempt }, at(2) + attempt * 1_000)
  }
  t.equal(memory.get(id)!.state.cells[0]!.state, 'failing')
  t.equal(effects.regionStates.length, 1, 'the probe receives the state')
  t.equal(effects.changes.size, 0)
  t.same([...effects.unstored], [[id, at(2) + 1_000]])

  const later = createBatchEffects()
  addOverdueChanges(memory, later, effects.unstored, { nowMs: at(2) + 60_999, ageMs: 60_000, limit: 10 })
  t.equal(later.changes.size, 0)
  addOverdueChanges(memory, later, effects.unstored, { nowMs: at(2) + 61_000, ageMs: 60_000, limit: 10 })
  t.equal(later.changes.get(id)!.state.cells[0]!.failures, 3)
})

t.test('The first and the last failure of a monitor with dependents are stored with their results', async t => {
  const memory = memoryWith({ retryCount: 2 })
  const stores = (slot: number, up: boolean) => {
    const effects = createBatchEffects()
    countResult(memory, effects, id, check(slot, up), at(slot), undefined, new Set([id]))
    return effects.changes.size
  }
  t.same([stores(1, true), stores(2, false), stores(3, false), stores(4, true)], [1, 1, 0, 1])
})

t.test('States that wait to be stored are stored a few at a time, the oldest first', async t => {
  const memory: TrackedMonitors = new Map()
  const ids = [1, 2, 3].map(n => id.replace(/1$/, String(n)))
  for (const one of ids) loadMonitor(memory, one, { ...stored, id: one }, fresh)
  const unstored = new Map(ids.map((one, i) => [one, i]))
  const effects = createBatchEffects()
  addOverdueChanges(memory, effects, unstored, { nowMs: 10, ageMs: 5, limit: 2 })
  t.same([...effects.changes.keys()], ids.slice(0, 2))

  const setBack = createBatchEffects()
  addOverdueChanges(memory, setBack, new Map([[ids[0]!, 100], ...unstored]), { nowMs: 10, ageMs: 5, limit: 3 })
  t.same([...setBack.changes.keys()], ids, 'a time that is ahead of a clock that was set back holds nothing up')
})

t.test('A change that is discarded because of an edit keeps what was counted before it', async t => {
  const memory = memoryWith({ retryCount: 2 })
  countResult(memory, createBatchEffects(), id, check(1), at(1))
  countResult(memory, createBatchEffects(), id, check(2, false), at(2))
  countResult(memory, createBatchEffects(), id, check(3, false), at(3))
  const effects = createBatchEffects()
  countResult(memory, effects, id, check(4, false), at(4))
  t.equal(memory.get(id)!.state.status, 'down')
  revertChanges(memory, effects, [id])
  t.match(memory.get(id)!.state, { status: 'up', cells: [{ failures: 2 }] })
})

t.test('A probe that another one contradicts receives that its region does not fail', async t => {
  const memory = memoryWith()
  countResult(memory, createBatchEffects(), id, check(1), at(1))
  countResult(memory, createBatchEffects(), id, check(2, false), at(2))
  const opinion = { ...check(2), probeId: 'q', trigger: Trigger.OTHER_PROBE, scheduledAtMs: at(2) }
  countResult(memory, createBatchEffects(), id, opinion, at(2) + 50)
  const effects = createBatchEffects()
  countResult(memory, effects, id, { ...check(2, false), attempt: 2 }, at(2) + 1_000)
  t.equal(effects.disagreements.length, 1)
  t.same(effects.regionStates, [{ monitorId: id, region: 'us-east', state: 'ok' }])
})

t.test('An unknown monitor is looked up in the database, and a newer version once', async t => {
  const memory = memoryWith()
  const other = '0190a0a0-0000-7000-8000-000000000002'
  t.ok(needsReload(memory, { monitorId: other, configVersion: 1 }))
  t.ok(needsReload(memory, { monitorId: id, configVersion: 2 }))
  loadMonitor(memory, id, stored, { ...fresh, lookedForVersion: 2 })
  t.notOk(needsReload(memory, { monitorId: id, configVersion: 2 }))
})

t.test('Results of a paused, deleted or unknown monitor are history', async t => {
  for (const changes of [{ isPaused: true }, { isDeleted: true }]) {
    const effects = createBatchEffects()
    countResult(memoryWith(changes), effects, id, check(1, false), at(1))
    t.equal(effects.counts.history, 1)
    t.equal(effects.changes.size, 0)
  }
})

t.test('A deleted or unknown monitor is not in memory', async t => {
  const memory = memoryWith()
  loadMonitor(memory, id, { ...stored, isDeleted: true }, fresh)
  t.equal(memory.size, 0)
  loadMonitor(memory, id, null, fresh)
  t.equal(memory.size, 0)
})

t.test('Memory is used before the stored state, unless it was discarded or the stored state is missing', async t => {
  const memory = memoryWith({ retryCount: 0 })
  countResult(memory, createBatchEffects(), id, check(1, false), at(1))
  const before = { ...createMonitorState(id, 1), status: 'up' as const }
  loadMonitor(memory, id, { ...stored, state: before }, fresh)
  t.equal(memory.get(id)!.state.status, 'down')
  loadMonitor(memory, id, { ...stored, state: before }, { ...fresh, isDiscarded: true })
  t.equal(memory.get(id)!.state.status, 'up')
  loadMonitor(memory, id, stored, fresh)
  t.equal(memory.get(id)!.state.status, null, 'it was paused and resumed meanwhile')
})

const regions = ['us-east', 'eu-west']
/** Both regions are up at the first slot, and one fails at the second. */
function oneFails(): TrackedMonitors {
  const memory = memoryWith({ regions, retryCount: 0 })
  for (const region of regions) countResult(memory, createBatchEffects(), id, { ...check(1), region }, at(1))
  countResult(memory, createBatchEffects(), id, check(2, false), at(2))
  return memory
}
const listVoteTimes = (memory: TrackedMonitors) => memory.get(id)!.state.cells.map(({ votedAtMs }) => votedAtMs)

t.test('A discarded change reverts its results, and keeps the times of votes', async t => {
  const memory = oneFails()
  const { state } = oneFails().get(id)!
  countResult(memory, createBatchEffects(), id, { ...check(2), region: 'eu-west' }, at(3))
  loadMonitor(memory, id, { ...stored, regions, state: { ...state, status: 'up' } }, { ...fresh, isDiscarded: true })
  t.equal(memory.get(id)!.state.status, 'up')
  t.same(listVoteTimes(memory), [at(2), at(3)])
  t.equal(memory.get(id)!.state.restoredAtMs, null)
})

t.test('Votes keep their age when JetStream’s clock is set back while no process reads', async t => {
  for (const [back, expected] of [
    [1_000, at(2)],
    [600_000, at(2) - 600_000 + 100],
  ] as const) {
    const memory = oneFails()
    const toStore = startCountingAt(memory, at(2) + 100 - back, at(2))
    t.same(toStore, back === 1_000 ? [] : [id], 'a region fails: what is stored would be wrong by the step')
    t.equal(listVoteTimes(memory)[0], Math.min(expected, at(2) + 100 - back))
  }
  const steady = memoryWith()
  countResult(steady, createBatchEffects(), id, check(1), at(1))
  t.same(shiftAllTimes(steady, 600_000), [])
  t.same(listVoteTimes(steady), [at(1) + 600_000])
})

t.test('The longest lifetime of a vote is taken from monitors of several regions', async t => {
  t.equal(computeMaxVoteLifetimeMs(memoryWith()), 0)
  t.equal(computeMaxVoteLifetimeMs(memoryWith({ regions })), 95_000)
  t.equal(computeMaxVoteLifetimeMs(memoryWith({ regions, isPaused: true })), 0)
})

t.test('Monitors that keep their status because too few regions vote are counted', async t => {
  const memory = memoryWith()
  t.equal(countHeldMonitors(memory), 0)
  memory.get(id)!.state = { ...memory.get(id)!.state, quorumLostSinceMs: 5 }
  t.equal(countHeldMonitors(memory), 1)
})

t.test('Monitors with equal settings share one policy, and another retry count has another', async t => {
  const memory: TrackedMonitors = new Map()
  for (const [name, retryCount] of [
    ['a', 1],
    ['b', 1],
    ['c', 2],
  ] as const) {
    loadMonitor(memory, name, { ...stored, id: name, regions: ['us-east', 'eu-west'], retryCount }, fresh)
  }
  const policy = (name: string) => memory.get(name)!.policy
  t.equal(policy('a'), policy('b'))
  t.same(policy('a'), {
    configVersion: 1,
    streaksSince: 1,
    regions: ['us-east', 'eu-west'],
    retryCount: 1,
    intervalMs: 30_000,
    timeoutMs: 5_000,
    expires: true,
  })
  t.same(policy('c'), { ...policy('a'), retryCount: 2 })
})

t.test('results are counted by region', async t => {
  const memory = memoryWith({})
  const effects = createBatchEffects()
  selectRegionCounts(effects, 'us-east')
  for (const slot of [1, 2]) countResult(memory, effects, id, check(slot), at(slot))
  selectRegionCounts(effects, 'eu-west')
  countResult(memory, effects, 'unknown', check(3), at(3))
  selectRegionCounts(effects, 'us-east')
  countResult(memory, effects, id, check(3), at(3))
  t.same(Object.fromEntries(effects.countsByRegion), {
    'us-east': { counted: 3, out_of_band: 0, history: 0, refused_future: 0, refused_epoch: 0, refused_probe: 0 },
    'eu-west': { counted: 0, out_of_band: 0, history: 1, refused_future: 0, refused_epoch: 0, refused_probe: 0 },
  })
})
