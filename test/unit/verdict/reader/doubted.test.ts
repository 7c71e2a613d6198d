import t from 'tap'
import { shiftStateTimes } from '../../../../control-plane/verdict/core/rules/clock-step.ts'
import { decide } from '../../../../control-plane/verdict/core/rules/decide.ts'
import { createMonitorState } from '../../../../control-plane/verdict/core/rules/state.ts'
import type { MonitorState, VerdictResult } from '../../../../control-plane/verdict/core/types.ts'
import { createByteWriter } from '../../../../control-plane/verdict/reader/checkpoint/bytes.ts'
import {
  applyCheckpoint,
  readCheckpoint,
  writeCheckpointHeader,
  writeMonitor,
} from '../../../../control-plane/verdict/reader/checkpoint/checkpoint.ts'
import {
  loadMonitor,
  replayResult,
  type TrackedMonitors,
} from '../../../../control-plane/verdict/reader/counting/tracked-monitors.ts'
import { FailureSource, Outcome, Trigger } from '../../../../shared/checks/result.ts'

const ID = '0190a0a0-0000-7000-8000-000000000001'
const START_MS = 1_763_769_600_000
const monitor = {
  ...{ id: ID, configVersion: 1, streaksSince: 1, regions: ['us-east'], retryCount: 1, intervalSeconds: 30 },
  ...{ timeoutMs: 5_000, witness: true, status: 'up' as const, isPaused: false, isDeleted: false },
}

type Check = [second: number, outcome: Outcome, rest?: Partial<VerdictResult>]
const { UP, DOWN } = Outcome
const doubted = { isDoubted: true as const }
const witness = { region: 'eu-west', probeId: 'w', trigger: Trigger.WITNESS }

const buildResult = ([second, outcome, rest]: Check): VerdictResult => ({
  ...{ region: 'us-east', probeId: 'p', configVersion: 1, epoch: 1, attempt: 1, outcome, trigger: Trigger.SLOT },
  ...{ scheduledAtMs: START_MS + second * 1_000, statusCode: outcome === UP ? 200 : 0, responseTimeMs: 5 },
  error: outcome === UP ? null : { source: FailureSource.TARGET, code: 'connection_refused', message: 'refused' },
  ...rest,
})

/** Memory with the monitor in a state, as after a restart. */
function createMemory(state: MonitorState): TrackedMonitors {
  const memory: TrackedMonitors = new Map()
  loadMonitor(memory, ID, { ...monitor, state }, { lookedForVersion: 1, isDiscarded: false })
  return memory
}

/** The outcomes of results and the final state; `keep` is applied to the state between them. */
function feed(state: MonitorState, checks: Check[], stepMs = 0, keep = (state: MonitorState) => state) {
  const { policy } = createMemory(state).get(ID)!
  const made: (string | null)[] = []
  for (const one of checks) {
    const result = buildResult(one)
    const moved = { ...result, scheduledAtMs: result.scheduledAtMs + stepMs }
    const decision = decide(state, moved, policy!, moved.scheduledAtMs + 100)
    state = keep(decision.state)
    made.push(decision.transition?.to ?? null)
  }
  return { state, made }
}

const contradicted: Check[] = [
  [30, DOWN, doubted],
  [31, UP, witness],
  [32, DOWN, { ...doubted, scheduledAtMs: START_MS + 30_000, attempt: 2 }],
]
const steady = feed(createMonitorState(ID, 1), [[0, UP]]).state
const held = feed(steady, contradicted).state
/** A witness contradicts the region in the first one; its silence ends that in the last one. */
const later: Check[] = [60, 90, 120].map(second => [second, DOWN, doubted])
const DECIDED = [null, 'down', null]

t.test('a doubted region waits while a witness sees the target well, and otherwise decides alone', async t => {
  t.match(held.cells, [{ state: 'failing', doubt: { settledBy: null, witness: { isWell: true } } }])
  t.same(feed(held, later).made, DECIDED)
})

t.test('a checkpoint contains doubts and answers of witnesses', async t => {
  const base = { takenAtMs: START_MS + 40_000 }
  const out = createByteWriter()
  writeCheckpointHeader(out)
  writeMonitor(out, new Map(), base, held, true)
  const memory = createMemory(steady)
  t.same(applyCheckpoint(memory, readCheckpoint(out.bytes(), base)), [ID])
  const { state } = memory.get(ID)!
  t.same(state.cells[0]!.doubt, held.cells[0]!.doubt)
  t.same(feed(state, later).made, DECIDED)
})

t.test('results that are read again after a restart restore a doubt', async t => {
  const memory = createMemory(steady)
  for (const one of contradicted) {
    const result = buildResult(one)
    replayResult(memory, new Map(), ID, result, result.scheduledAtMs + 100)
  }
  t.same(memory.get(ID)!.state.cells[0]!.doubt, held.cells[0]!.doubt)
  t.same(feed(memory.get(ID)!.state, later).made, DECIDED)
})

t.test('a step of the clock in either direction does not change the length of a doubt', async t => {
  for (const stepMs of [-600_000, 600_000]) {
    t.same(feed(shiftStateTimes(held, stepMs), later, stepMs).made, DECIDED, `${stepMs} ms`)
  }
})

t.test('a state that is stored and loaded after each result leads to the same decisions', async t => {
  const asStored = (state: MonitorState) => JSON.parse(JSON.stringify(state)) as MonitorState
  t.same(feed(steady, [...contradicted, ...later], 0, asStored).made.slice(contradicted.length), DECIDED)
})
