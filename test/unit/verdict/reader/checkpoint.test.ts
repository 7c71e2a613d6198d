import t from 'tap'
import { createMonitorState } from '../../../../control-plane/verdict/core/rules/state.ts'
import type { MonitorState, VerdictResult } from '../../../../control-plane/verdict/core/types.ts'
import { createByteReader, createByteWriter } from '../../../../control-plane/verdict/reader/checkpoint/bytes.ts'
import {
  applyCheckpoint,
  readCheckpoint,
  writeCheckpointHeader,
  writeMonitor,
} from '../../../../control-plane/verdict/reader/checkpoint/checkpoint.ts'
import { saveCheckpoint } from '../../../../control-plane/verdict/reader/checkpoint/checkpoint-actions.ts'
import {
  loadMonitor,
  replayResult,
  type TrackedMonitors,
} from '../../../../control-plane/verdict/reader/counting/tracked-monitors.ts'
import { FailureSource, Outcome, Trigger } from '../../../../shared/checks/result.ts'

const BASE = { takenAtMs: 1_763_769_600_123 }
const ids = ['0190a0a0-0000-7000-8000-000000000001', '0190a0a0-0000-7000-8000-000000000002']

const check = (region: string, slot: number, rest: Partial<VerdictResult> = {}): VerdictResult => ({
  region,
  probeId: `probe of ${region}`,
  configVersion: 3,
  epoch: 5,
  scheduledAtMs: BASE.takenAtMs - 600_000 + slot * 30_000,
  attempt: 1,
  outcome: Outcome.UP,
  trigger: Trigger.SLOT,
  statusCode: 200,
  responseTimeMs: 17,
  error: null,
  ...rest,
})

const stored = (id: string, state: MonitorState | null) => ({
  id,
  configVersion: 3,
  streaksSince: 1,
  regions: ['us-east', 'eu-west'],
  retryCount: 1,
  intervalSeconds: 30,
  timeoutMs: 5_000,
  status: null,
  isPaused: false,
  isDeleted: false,
  state,
})

/** Memory after the first checks, which are stored, and after the given ones. */
function memoryAfter(later: VerdictResult[]): { memory: TrackedMonitors; states: Map<string, MonitorState> } {
  const memory: TrackedMonitors = new Map()
  const states = new Map<string, MonitorState>()
  const unstored = new Map<string, number>()
  const count = (result: VerdictResult) => {
    for (const id of ids) {
      replayResult(memory, unstored, id, result, result.scheduledAtMs + 100)
    }
  }
  for (const id of ids) {
    const cell = {
      state: 'ok' as const,
      failures: 0,
      notUp: 0,
      better: 0,
      votedAtMs: check('us-east', 0).scheduledAtMs,
      firstFailure: null,
      secondOpinion: null,
    }
    const cells = ['us-east', 'eu-west'].map(region => {
      const last = check(region, 0)
      return { ...cell, region, fence: last, last }
    })
    const state: MonitorState = { ...createMonitorState(id, 3), status: 'up', cells }
    states.set(id, state)
    loadMonitor(memory, id, stored(id, state), { lookedForVersion: 3, isDiscarded: false })
  }
  later.forEach(count)
  return { memory, states }
}

function encode(memory: TrackedMonitors): Uint8Array {
  const out = createByteWriter()
  const names = new Map<string, number>()
  writeCheckpointHeader(out)
  for (const { state } of memory.values()) writeMonitor(out, names, BASE, state, false)
  return out.bytes()
}

function reload(states: Map<string, MonitorState>, data: Uint8Array): TrackedMonitors {
  const memory: TrackedMonitors = new Map()
  for (const [id, state] of states) {
    loadMonitor(memory, id, stored(id, state), { lookedForVersion: 3, isDiscarded: false })
  }
  applyCheckpoint(memory, readCheckpoint(data, BASE))
  return memory
}

t.test('A checkpoint restores memory from the stored states', async t => {
  const error = { source: FailureSource.INTERNAL, code: 'no_network', message: 'no network: größe' }
  const { memory, states } = memoryAfter([
    check('us-east', 1),
    check('eu-west', 1, { statusCode: 204, responseTimeMs: 3_000, epoch: 6 }),
    check('us-east', 2, { outcome: Outcome.UNKNOWN, error }),
  ])
  const restored = reload(states, encode(memory))
  const slim = ({ cells, ...state }: MonitorState) => ({
    ...state,
    cells: cells.map(({ fence: { configVersion, epoch, scheduledAtMs, attempt }, ...cell }) => ({
      ...cell,
      fence: { configVersion, epoch, scheduledAtMs, attempt },
    })),
  })
  for (const id of ids) t.same(slim(restored.get(id)!.state), slim(memory.get(id)!.state))
  t.notSame(restored.get(ids[0]!)!.state, states.get(ids[0]!))
  const cell = restored.get(ids[0]!)!.state.cells[1]!
  t.equal(cell.last, cell.fence, 'the newest result is there once')
})

t.test('A state that was stored after a checkpoint is newer than the checkpoint', async t => {
  const { memory, states } = memoryAfter([check('us-east', 1)])
  const data = encode(memory)
  const newer = memoryAfter([check('us-east', 2)]).memory.get(ids[0]!)!.state
  states.set(ids[0]!, newer)
  t.same(reload(states, data).get(ids[0]!)!.state, newer)
})

t.test('A truncated checkpoint, or one of another version, is refused', async t => {
  const data = encode(memoryAfter([]).memory)
  t.throws(() => readCheckpoint(data.subarray(0, data.length - 1), BASE), RangeError)
  t.throws(() => readCheckpoint(Uint8Array.from([9, ...data.subarray(1)]), BASE), /another version/)
})

t.test(
  'Nothing is stored while results are only read again: the next reader would not read the rest of them',
  async t => {
    const db = new Proxy({}, { get: () => t.fail('PostgreSQL was asked') })
    const checkpoint = { dueMs: 0, sequence: 1 }
    const position = { sequence: 9, takenAtMs: BASE.takenAtMs }
    const reading = { isCounting: false, checkpoint, position, tools: { db }, memory: new Map(), unstored: new Map() }
    await saveCheckpoint(reading as never)
    t.same(checkpoint, { dueMs: 0, sequence: 1 })
  },
)

t.test('Numbers are read as they were written', async t => {
  const out = createByteWriter()
  const numbers = [0, 1, 127, 128, 300, 2 ** 31, 2 ** 45 + 1, Number.MAX_SAFE_INTEGER]
  for (const one of numbers) out.number(one)
  for (const one of [0, -1, 1, -(2 ** 41), 2 ** 41]) out.signed(one)
  for (let i = 0; i < 20_000; i++) out.text('größe')
  const bytes = createByteReader(out.bytes())
  t.same(
    numbers.map(() => bytes.number()),
    numbers,
  )
  t.same(
    [1, 2, 3, 4, 5].map(() => bytes.signed()),
    [0, -1, 1, -(2 ** 41), 2 ** 41],
  )
  t.equal(bytes.text(), 'größe')
  for (const wrong of [-1, 1.5, Number.NaN, 2 ** 53]) t.throws(() => out.number(wrong), RangeError)
})
