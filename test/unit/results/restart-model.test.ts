import fc from 'fast-check'
import t from 'tap'
import { byteWriter } from '../../../control-plane/results/bytes.ts'
import {
  appendMonitor,
  applyCheckpoint,
  beginCheckpoint,
  readCheckpoint,
} from '../../../control-plane/results/checkpoint.ts'
import {
  addOverdue,
  beginAt,
  countResult,
  type Harvest,
  type Memory,
  newHarvest,
  recallResult,
  restoreAll,
  takeUp,
  type Unstored,
} from '../../../control-plane/results/memory.ts'
import { restore } from '../../../control-plane/verdict/state.ts'
import type { MonitorState } from '../../../control-plane/verdict/types.ts'
import { Outcome } from '../../../shared/result.ts'
import type { Arrival } from '../verdict/reference.ts'
import { asStored } from '../verdict/runs.ts'
import { arrivalsIn, type Step, type World, world } from '../verdict/worlds.ts'

const SEED = Number(process.env.VERDICT_SEED ?? Date.now() % 2 ** 31)
const RUNS = 1500
const ID = '0190a0a0-0000-7000-8000-000000000001'
const RECALL_MS = 120_000
const UNSTORED_MS = 60_000

/** What a process leaves behind: a row, a position and perhaps a checkpoint. */
type Left = {
  row: MonitorState | null
  positionMs: number
  checkpoint: { data: Uint8Array; takenAtMs: number; sequence: number } | null
}

/** One process that counts. */
type Counter = { memory: Memory; unstored: Unstored }

/** Each region up at first: what has no status yet is stored at once. */
function begunUp(setup: World): World {
  const first = { waitSteps: 1, outcome: Outcome.UP, order: 'slot', event: '', pick: 0 } as const
  const ups: Step[] = Array.from({ length: setup.regions }, (_, region) => ({ ...first, region }) as Step)
  return { ...setup, stickiness: 0, steps: [...ups, ...setup.steps] }
}

const withoutEdits = (one: Step): Step =>
  ['config', 'cutoff', 'restart'].includes(one.event) ? { ...one, event: '' } : one
/** A slot of its own each: what was read two minutes ago is not read again, and neither must its duplicate be. */
const inOrder = (one: Step): Step => ({ ...one, event: '', order: 'slot', waitSteps: one.waitSteps || 1 })

const watched = ({ policy }: Pick<Arrival, 'policy'>, state: MonitorState | null) => ({
  id: ID,
  configVersion: policy.configVersion,
  streaksSince: policy.streaksSince,
  regions: [...policy.regions],
  retryCount: policy.retryCount,
  intervalSeconds: policy.intervalMs / 1_000,
  timeoutMs: policy.timeoutMs,
  status: null,
  isPaused: false,
  isDeleted: false,
  state,
})

const lookedFor = (version: number) => ({ lookedForVersion: version, isDiscarded: false, nowMs: null })

const restarts = fc.array(fc.nat(100), { maxLength: 6 })
const everyOne = fc.integer({ min: 1, max: 6 })

t.test(`A restart with a checkpoint forgets nothing, whatever came (seed ${SEED})`, async t => {
  const property = fc.property(world, restarts, everyOne, (setup, ends, every) =>
    isAlike(begunUp({ ...setup, steps: setup.steps.map(withoutEdits) }), ends, every * 5_000),
  )
  fc.assert(property, { seed: SEED, numRuns: RUNS })
  t.pass()
})

t.test(`A restart without one forgets nothing of what came in order (seed ${SEED})`, async t => {
  const property = fc.property(world, restarts, (setup, ends) =>
    isAlike(begunUp({ ...setup, steps: setup.steps.map(inOrder) }), ends, null),
  )
  fc.assert(property, { seed: SEED, numRuns: RUNS })
  t.pass()
})

/** Whether processes that end at `ends` decide as one that never forgets anything. */
function isAlike(setup: World, ends: number[], checkpointMs: number | null): boolean {
  // no two at the same moment, as in a stream: what was stored with one says which others it knows
  const arrivals = arrivalsIn(setup).map((arrival, i) => ({ ...arrival, atMs: arrival.atMs + i }))
  const outcomes = play(arrivals, ends, checkpointMs)
  const expected = remember(arrivals, new Set(ends))
  for (const [i, outcome] of outcomes.entries()) {
    if (JSON.stringify(outcome) === JSON.stringify(expected[i])) continue
    throw new Error(`result ${i}: ${JSON.stringify(outcome)}, without a restart ${JSON.stringify(expected[i])}`)
  }
  return true
}

function outcomeOf({ memory }: Counter, { changes, asks, regionStates, disagreements, kinds }: Harvest) {
  return {
    kinds,
    status: memory.get(ID)!.state.status,
    transition: changes.get(ID)?.transitions[0]?.to ?? null,
    asks: asks.map(({ ask }) => ask.reason),
    regionStates,
    disagreements: disagreements.length,
  }
}

/** The whole state survives each restart. */
function remember(arrivals: readonly Arrival[], ends: ReadonlySet<number>) {
  const memory: Memory = new Map()
  return arrivals.map((arrival, i) => {
    const { result, policy, atMs } = arrival
    takeUp(memory, ID, watched(arrival, memory.get(ID)?.state ?? null), lookedFor(policy.configVersion))
    const watch = memory.get(ID)!
    if (ends.has(i)) watch.state = restore(asStored(watch.state), atMs)
    const harvest = newHarvest()
    countResult(memory, harvest, ID, result, atMs)
    return outcomeOf({ memory, unstored: new Map() }, harvest)
  })
}

function play(arrivals: readonly Arrival[], ends: number[], checkpointMs: number | null) {
  const left: Left = { row: null, positionMs: 0, checkpoint: null }
  const after = new Set(ends)
  let counter = start(left, arrivals.slice(0, 1), arrivals[0]!)
  return arrivals.map((arrival, i) => {
    if (after.has(i)) {
      counter = start(left, arrivals.slice(0, i), arrival)
      beginAt(counter.memory, arrival.atMs)
    }
    const harvest = newHarvest()
    countResult(counter.memory, harvest, ID, arrival.result, arrival.atMs)
    const outcome = outcomeOf(counter, harvest)
    store(counter, harvest, left, arrival.atMs)
    if (checkpointMs !== null && arrival.atMs >= (left.checkpoint?.takenAtMs ?? 0) + checkpointMs)
      left.checkpoint = { ...checkpointOf(counter, arrival.atMs), sequence: i }
    return outcome
  })
}

/** As storeHarvest does. */
function store({ memory, unstored }: Counter, harvest: Harvest, left: Left, atMs: number): void {
  for (const [id, sinceMs] of harvest.unstored) if (!unstored.has(id)) unstored.set(id, sinceMs)
  addOverdue(memory, harvest, unstored, { nowMs: atMs, ageMs: UNSTORED_MS, limit: 1 })
  left.positionMs = atMs
  if (!harvest.changes.has(ID)) return
  left.row = asStored(memory.get(ID)!.state)
  unstored.delete(ID)
}

/** As beginReading and the results that are read again do. */
function start(left: Left, past: readonly Arrival[], { policy }: Arrival): Counter {
  const memory: Memory = new Map()
  const unstored: Unstored = new Map()
  takeUp(memory, ID, watched({ policy }, left.row), { ...lookedFor(policy.configVersion), nowMs: null })
  const { checkpoint } = left
  const isMarked = checkpoint !== null && checkpoint.takenAtMs > left.positionMs - RECALL_MS
  if (isMarked) {
    for (const id of applyCheckpoint(memory, readCheckpoint(checkpoint.data, checkpoint))) unstored.set(id, 0)
  }
  if (left.positionMs === 0) return { memory, unstored }
  const fromMs = isMarked ? checkpoint.takenAtMs : left.positionMs - RECALL_MS
  const isKnown = (sequence: number) => isMarked && sequence <= checkpoint.sequence
  const again = past.filter(({ atMs }, sequence) => atMs >= fromMs && !isKnown(sequence))
  if (again.length > 0) restoreAll(memory, again[0]!.atMs)
  for (const { result, atMs } of again) recallResult(memory, unstored, ID, result, atMs)
  return { memory, unstored }
}

function checkpointOf({ memory, unstored }: Counter, takenAtMs: number) {
  const out = byteWriter()
  beginCheckpoint(out)
  appendMonitor(out, new Map(), { takenAtMs }, memory.get(ID)!.state, unstored.has(ID))
  return { data: out.bytes().slice(), takenAtMs }
}
