import fc from 'fast-check'
import t from 'tap'
import type { MonitorState } from '../../../../control-plane/verdict/core/types.ts'
import { createByteWriter } from '../../../../control-plane/verdict/reader/checkpoint/bytes.ts'
import {
  readCheckpoint,
  writeCheckpointHeader,
  writeMonitor,
} from '../../../../control-plane/verdict/reader/checkpoint/checkpoint.ts'
import {
  type BatchEffects,
  createBatchEffects,
} from '../../../../control-plane/verdict/reader/counting/batch-effects.ts'
import {
  addWaitingChanges,
  type CountingState,
  markCommitted,
  startCounting,
} from '../../../../control-plane/verdict/reader/counting/counting-state.ts'
import {
  countResult,
  loadMonitor,
  replayResult,
  startCountingAt,
  type TrackedMonitors,
} from '../../../../control-plane/verdict/reader/counting/tracked-monitors.ts'
import type { CheckpointPosition } from '../../../../control-plane/verdict/reader/partitions/start-position.ts'
import { Outcome } from '../../../../shared/checks/result.ts'
import type { Arrival } from '../core/reference.ts'
import { arrivalsIn, type Step, type World, world } from '../core/worlds.ts'

const SEED = Number(process.env.VERDICT_SEED ?? Date.now() % 2 ** 31)
const RUNS = 1500
const ID = '0190a0a0-0000-7000-8000-000000000001'
const STREAM = 'monday'

/** What a process has stored when it ends: a row, a position and maybe a checkpoint. */
type Left = {
  /** the state as JSON, which PostgreSQL keeps; most rows are replaced and never read */
  row: string | null
  position: number
  positionAtMs: number | null
  checkpoint: (CheckpointPosition & { data: Uint8Array }) | null
}

/** Each region is up at first, because a state without a status is stored with the result. */
function begunUp(setup: World): World {
  const first = { waitSteps: 1, outcome: Outcome.UP, order: 'slot', event: '', pick: 0 } as const
  const ups: Step[] = Array.from({ length: setup.regions }, (_, region) => ({ ...first, region }) as Step)
  return { ...setup, stickiness: 0, steps: [...ups, ...setup.steps] }
}

const withoutEdits = (one: Step): Step =>
  ['config', 'cutoff', 'restart'].includes(one.event) ? { ...one, event: '' } : one
/** Each result has its own slot: a result from two minutes ago is not read again, and neither must its duplicate be. */
const inOrder = (one: Step): Step => ({ ...one, event: '', order: 'slot', waitSteps: one.waitSteps || 1 })

const watched = ({ policy }: Pick<Arrival, 'policy'>, state: MonitorState | null) => ({
  id: ID,
  configVersion: policy.configVersion,
  streaksSince: policy.streaksSince,
  regions: [...policy.regions],
  retryCount: policy.retryCount,
  intervalSeconds: policy.intervalMs / 1_000,
  timeoutMs: policy.timeoutMs,
  // the status of the monitor's row was stored with the state
  status: state?.status ?? null,
  isPaused: false,
  isDeleted: false,
  state,
})

const lookedFor = (version: number) => ({ lookedForVersion: version, isDiscarded: false })

const restarts = fc.array(fc.nat(100), { maxLength: 6 })
const everyOne = fc.integer({ min: 1, max: 6 })
/** Regions without a probe: the region, the first result and the number of results. */
const gone = fc.array(fc.record({ region: fc.nat(4), from: fc.nat(100), count: fc.nat(100) }), { maxLength: 4 })
type Gone = { region: number; from: number; count: number }[]

t.test(`A restart with a checkpoint changes no decision (seed ${SEED})`, async t => {
  const property = fc.property(world, gone, restarts, everyOne, (setup, away, ends, every) =>
    isAlike(begunUp({ ...setup, steps: setup.steps.map(withoutEdits) }), away, ends, every * 5_000),
  )
  fc.assert(property, { seed: SEED, numRuns: RUNS })
  t.pass()
})

t.test(`A restart without a checkpoint changes no decision about results in order (seed ${SEED})`, async t => {
  const seldom = fc.constantFrom(null, null, 100_000, 300_000, 1_000_000)
  const property = fc.property(world, gone, restarts, seldom, (setup, away, ends, checkpointMs) =>
    isAlike(begunUp({ ...setup, steps: setup.steps.map(inOrder) }), away, ends, checkpointMs),
  )
  fc.assert(property, { seed: SEED, numRuns: RUNS })
  t.pass()
})

/** Whether processes that end at `ends` decide like one that never ends. */
function isAlike(setup: World, away: Gone, ends: number[], checkpointMs: number | null): boolean {
  const arrivals = listReceived(away, setup)
  const outcomes = play(arrivals, ends, checkpointMs)
  const expected = remember(arrivals)
  for (const [i, outcome] of outcomes.entries()) {
    if (JSON.stringify(outcome) === JSON.stringify(expected[i])) continue
    throw new Error(`result ${i}: ${JSON.stringify(outcome)}, without a restart ${JSON.stringify(expected[i])}`)
  }
  return true
}

/** The first result of each region is from before any absence. */
function listReceived(away: Gone, setup: World): Arrival[] {
  // no two at the same time, as in a stream: the stored state shows which results it contains
  const arrivals = arrivalsIn(setup).map((arrival, i) => ({ ...arrival, atMs: arrival.atMs + i }))
  const { regions } = arrivals[0]!.policy
  return arrivals.filter(
    ({ result }, i) =>
      i < setup.regions ||
      away.every(one => result.region !== regions[one.region] || i < one.from || i >= one.from + one.count),
  )
}

function toOutcome(
  memory: TrackedMonitors,
  { changes, asks, regionStates, disagreements, counts: kinds }: BatchEffects,
) {
  return {
    kinds,
    status: memory.get(ID)!.state.status,
    transition: changes.get(ID)?.transitions[0]?.to ?? null,
    asks: asks.map(({ ask }) => ask.reason),
    regionStates,
    disagreements: disagreements.length,
  }
}

/** One process that never ends. */
function remember(arrivals: readonly Arrival[]) {
  const memory: TrackedMonitors = new Map()
  return arrivals.map(arrival => {
    const { result, policy, atMs } = arrival
    loadMonitor(memory, ID, watched(arrival, memory.get(ID)?.state ?? null), lookedFor(policy.configVersion))
    const effects = createBatchEffects()
    countResult(memory, effects, ID, result, atMs)
    return toOutcome(memory, effects)
  })
}

function play(arrivals: readonly Arrival[], ends: number[], checkpointMs: number | null) {
  const left: Left = { row: null, position: 0, positionAtMs: null, checkpoint: null }
  const after = new Set(ends)
  let counter = start(left, arrivals.slice(0, 1), arrivals[0]!)
  return arrivals.map((arrival, i) => {
    if (after.has(i)) {
      counter = start(left, arrivals.slice(0, i), arrival)
      startCountingAt(counter.memory, arrival.atMs, left.positionAtMs)
    }
    const effects = createBatchEffects()
    countResult(counter.memory, effects, ID, arrival.result, arrival.atMs)
    const outcome = toOutcome(counter.memory, effects)
    store(counter, effects, left, i + 1, arrival.atMs)
    if (checkpointMs !== null && arrival.atMs >= (left.checkpoint?.takenAtMs ?? 0) + checkpointMs)
      left.checkpoint = { data: encode(counter, arrival.atMs), ...markAt(i + 1, arrival.atMs) }
    return outcome
  })
}

/** As commitEffects, when everything is stored. */
function store(counting: CountingState, effects: BatchEffects, left: Left, sequence: number, atMs: number): void {
  counting.position = { sequence, takenAtMs: atMs }
  Object.assign(left, { position: sequence, positionAtMs: atMs })
  addWaitingChanges(counting, effects)
  if (!effects.changes.has(ID)) return
  left.row = JSON.stringify(counting.memory.get(ID)!.state)
  markCommitted(counting, effects, [])
}

/** As startReading and the results that are read again. */
function start(
  { row, position, positionAtMs, checkpoint }: Left,
  past: readonly Arrival[],
  { policy }: Arrival,
): CountingState {
  const memory: TrackedMonitors = new Map()
  const state: MonitorState | null = row === null ? null : JSON.parse(row)
  loadMonitor(memory, ID, watched({ policy }, state), lookedFor(policy.configVersion))
  const counting = startCounting(
    memory,
    { id: 1, epoch: 1, position, positionAtMs, streamCreated: STREAM },
    {
      stream: { created: STREAM, firstSequence: 1, lastSequence: position, lastAtMs: positionAtMs ?? 0 },
      foundAtMs: positionAtMs,
      checkpoint: checkpoint && { ...checkpoint, marked: readCheckpoint(checkpoint.data, checkpoint) },
      absences: new Map(),
      monotonicMs: 0,
      logMs: 0,
    },
  )
  const { start, mark, unstored } = counting
  if (!('timeMs' in start.from)) return counting
  const { timeMs } = start.from
  const again = past.filter(({ atMs }, i) => atMs >= timeMs && i + 1 > (mark?.sequence ?? 0))
  for (const { result, atMs } of again) replayResult(memory, unstored, ID, result, atMs)
  return counting
}

function markAt(sequence: number, takenAtMs: number): CheckpointPosition {
  return { streamCreated: STREAM, sequence, takenAtMs }
}

function encode({ memory, unstored }: CountingState, takenAtMs: number): Uint8Array {
  const out = createByteWriter()
  writeCheckpointHeader(out)
  writeMonitor(out, new Map(), { takenAtMs }, memory.get(ID)!.state, unstored.has(ID))
  return out.bytes().slice()
}
