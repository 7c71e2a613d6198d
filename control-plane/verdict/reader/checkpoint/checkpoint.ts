import type { CheckError } from '../../../../shared/checks/result.ts'
import { withTally } from '../../core/rules/state.ts'
import type {
  HighWaterMark,
  MonitorState,
  RegionDoubt,
  RegionState,
  RegionTally,
  VerdictResult,
} from '../../core/types.ts'
import type { TrackedMonitors } from '../counting/tracked-monitors.ts'
import { type ByteReader, type ByteWriter, createByteReader } from './bytes.ts'

/*
 * A checkpoint contains what results change in memory without being stored: for each region of a monitor the high-water
 * mark, the vote time, the newest result and the length of its streaks; for a monitor whose growing streak is not
 * stored yet, everything except its status. Everything else is in the stored state, which is never older.
 */

const VERSION = 2
const STATES: RegionState[] = ['pending', 'ok', 'degraded', 'failing']

/** Times are written relative to this one. */
type CheckpointBase = { takenAtMs: number }

/** Names by number, in the order in which they were first met. */
type Names = Map<string, number>

export function writeCheckpointHeader(out: ByteWriter): void {
  out.number(VERSION)
}

/** Appends one monitor. A monitor without a region, or with an invalid stored state, is left out. */
export function writeMonitor(
  out: ByteWriter,
  names: Names,
  { takenAtMs }: CheckpointBase,
  state: MonitorState,
  isUnstored: boolean,
): void {
  if (state.cells.length === 0 || !state.cells.every(isWhole)) return
  out.uuid(state.monitorId)
  out.number(isUnstored ? 1 : 0)
  if (isUnstored) {
    out.number(state.configVersion)
    writeTime(out, state.askedAtMs, takenAtMs)
  }
  out.number(state.cells.length)
  for (const cell of state.cells) {
    const { fence, last } = cell
    writeName(out, names, cell.region)
    out.number(cell.failures)
    out.number(cell.notUp)
    writeHighWaterMark(out, fence, takenAtMs)
    writeTime(out, cell.votedAtMs, takenAtMs)
    if (isUnstored) writeGrowth(out, names, cell, takenAtMs)
    out.number(last === null ? 0 : last === fence ? 1 : 2)
    if (last === null) continue
    if (last !== fence) writeHighWaterMark(out, last, takenAtMs)
    writeName(out, names, last.probeId)
    out.number(last.outcome)
    out.number(last.trigger)
    out.signed(last.statusCode)
    out.signed(last.responseTimeMs)
    out.text(last.error === null ? '' : JSON.stringify(last.error))
  }
}

/** The fields that only the cell of a growing streak has. */
function writeGrowth(out: ByteWriter, names: Names, cell: RegionTally, takenAtMs: number): void {
  const { firstFailure, secondOpinion: opinion, doubt } = cell
  out.number(STATES.indexOf(cell.state) + (doubt ? STATES.length : 0))
  if (doubt) out.text(JSON.stringify(doubt))
  out.number(cell.better)
  out.number(firstFailure === null ? 0 : 1)
  if (firstFailure !== null) {
    out.signed(takenAtMs - firstFailure.atMs)
    out.signed(takenAtMs - firstFailure.scheduledAtMs)
  }
  out.number(opinion === null ? 0 : 1)
  if (opinion === null) return
  writeName(out, names, opinion.probeId)
  out.number(opinion.outcome)
  out.signed(takenAtMs - opinion.scheduledAtMs)
  out.signed(takenAtMs - opinion.takenAtMs)
  writeTime(out, opinion.renewalAskedAtMs, takenAtMs)
}

/** What a checkpoint contains for each monitor. */
export type CheckpointContents = { monitorId: string; unstored: UnstoredFields | null; cells: CheckpointTally[] }[]

/** For a monitor whose state in memory was not stored. */
type UnstoredFields = Pick<MonitorState, 'configVersion' | 'askedAtMs'>

/** Throws a RangeError or a SyntaxError for bytes that are not a checkpoint of this version. */
export const readCheckpoint = (data: Uint8Array, base: CheckpointBase): CheckpointContents => [
  ...iterateCheckpoint(data, base),
]

/** The same, one monitor at a time. */
export function* iterateCheckpoint(
  data: Uint8Array,
  { takenAtMs }: CheckpointBase,
): Generator<CheckpointContents[number]> {
  const bytes = createByteReader(data)
  if (bytes.number() !== VERSION) throw new RangeError('the checkpoint has another version')
  const names: string[] = []
  while (!bytes.isAtEnd()) {
    const monitorId = bytes.uuid()
    const isUnstored = bytes.number() === 1
    const unstored = isUnstored ? { configVersion: bytes.number(), askedAtMs: readTime(bytes, takenAtMs) } : null
    const cells = Array.from({ length: bytes.number() }, () => readTally(bytes, names, takenAtMs, isUnstored))
    yield { monitorId, unstored, cells }
  }
}

/** Updates memory, just loaded, where the checkpoint is newer. Returns the monitors that have to be stored. */
export function applyCheckpoint(memory: TrackedMonitors, marked: CheckpointContents): string[] {
  const toStore: string[] = []
  for (const { monitorId, unstored, cells } of marked) {
    const tracked = memory.get(monitorId)
    if (!tracked?.policy) continue
    // the state of an unchecked monitor is always stored
    if (unstored && !tracked.state.unchecked && isOfSameState(tracked.state, unstored, cells)) {
      tracked.state = {
        ...tracked.state,
        askedAtMs: unstored.askedAtMs,
        cells: cells.map(cell => ({ ...NO_GROWTH, ...cell })),
      }
      toStore.push(monitorId)
      continue
    }
    for (const seen of cells) {
      const known = tracked.state.cells.find(cell => cell.region === seen.region)
      if (!known || !isWhole(known) || !isNewer(seen.fence, known.fence)) continue
      tracked.state = withTally(tracked.state, { ...known, ...seen, votedAtMs: seen.votedAtMs ?? known.votedAtMs })
    }
  }
  return toStore
}

/** Whether the stored state is not newer than the checkpoint, so that the checkpoint replaces all cells. */
function isOfSameState(
  { configVersion, cells }: MonitorState,
  unstored: UnstoredFields,
  seen: CheckpointTally[],
): boolean {
  if (cells.length === 0 || configVersion !== unstored.configVersion) return false
  return cells.every(cell => {
    const now = seen.find(({ region }) => region === cell.region)
    return now !== undefined && isWhole(cell) && !isNewer(cell.fence, now.fence)
  })
}

type Growth = Pick<RegionTally, 'state' | 'better' | 'firstFailure' | 'secondOpinion' | 'doubt'>
const NO_GROWTH: Growth = { state: 'ok', better: 0, firstFailure: null, secondOpinion: null }

type CheckpointTally = Pick<RegionTally, 'region' | 'failures' | 'notUp' | 'fence' | 'votedAtMs' | 'last'> &
  Partial<Growth>

function readTally(bytes: ByteReader, names: string[], takenAtMs: number, isUnstored: boolean): CheckpointTally {
  const region = readName(bytes, names)
  const failures = bytes.number()
  const notUp = bytes.number()
  const fence = readHighWaterMark(bytes, takenAtMs)
  const votedAtMs = readTime(bytes, takenAtMs)
  const growth = isUnstored ? readGrowth(bytes, names, takenAtMs) : {}
  const kind = bytes.number()
  if (kind === 0) return { region, failures, notUp, fence, votedAtMs, ...growth, last: null }
  const place = kind === 1 ? fence : readHighWaterMark(bytes, takenAtMs)
  const last: VerdictResult = {
    region,
    ...place,
    probeId: readName(bytes, names),
    outcome: bytes.number(),
    trigger: bytes.number(),
    statusCode: bytes.signed(),
    responseTimeMs: bytes.signed(),
    error: readError(bytes),
  }
  return { region, failures, notUp, fence: kind === 1 ? last : fence, votedAtMs, ...growth, last }
}

function readGrowth(bytes: ByteReader, names: string[], takenAtMs: number): Growth {
  const code = bytes.number()
  const isDoubted = code >= STATES.length
  const state = STATES[isDoubted ? code - STATES.length : code]
  if (state === undefined) throw new RangeError('unknown region state')
  const doubt = isDoubted ? { doubt: JSON.parse(bytes.text()) as RegionDoubt } : {}
  const better = bytes.number()
  const time = () => takenAtMs - bytes.signed()
  const firstFailure = bytes.number() === 0 ? null : { atMs: time(), scheduledAtMs: time() }
  if (bytes.number() === 0) return { state, better, firstFailure, secondOpinion: null, ...doubt }
  const secondOpinion = {
    probeId: readName(bytes, names),
    outcome: bytes.number(),
    scheduledAtMs: time(),
    takenAtMs: time(),
    renewalAskedAtMs: readTime(bytes, takenAtMs),
  }
  return { state, better, firstFailure, secondOpinion, ...doubt }
}

function writeTime(out: ByteWriter, atMs: number | null, takenAtMs: number): void {
  out.number(atMs === null ? 0 : 1)
  if (atMs !== null) out.signed(takenAtMs - atMs)
}

const readTime = (bytes: ByteReader, takenAtMs: number): number | null =>
  bytes.number() === 0 ? null : takenAtMs - bytes.signed()

function readError(bytes: ByteReader): CheckError | null {
  const text = bytes.text()
  return text === '' ? null : JSON.parse(text)
}

function writeHighWaterMark(
  out: ByteWriter,
  { configVersion, epoch, scheduledAtMs, attempt }: HighWaterMark,
  takenAtMs: number,
): void {
  out.number(configVersion)
  out.number(epoch)
  out.signed(takenAtMs - scheduledAtMs)
  out.number(attempt)
}

function readHighWaterMark(bytes: ByteReader, takenAtMs: number): HighWaterMark {
  const [configVersion, epoch] = [bytes.number(), bytes.number()]
  return { configVersion, epoch, scheduledAtMs: takenAtMs - bytes.signed(), attempt: bytes.number() }
}

/** A name is written in full at its first use, and as a number after that. */
function writeName(out: ByteWriter, names: Names, name: string): void {
  const known = names.get(name)
  out.number(known ?? names.size)
  if (known !== undefined) return
  names.set(name, names.size)
  out.text(name)
}

function readName(bytes: ByteReader, names: string[]): string {
  const number = bytes.number()
  if (number === names.length) names.push(bytes.text())
  const name = names[number]
  if (name === undefined) throw new RangeError('unknown name number')
  return name
}

/** Stored states are not validated, and an invalid one must not stop the others. */
const isWhole = ({ fence }: Partial<RegionTally>) => fence !== undefined

function isNewer(a: HighWaterMark, b: HighWaterMark): boolean {
  const order =
    a.configVersion - b.configVersion || a.epoch - b.epoch || a.scheduledAtMs - b.scheduledAtMs || a.attempt - b.attempt
  return order > 0
}
