import type { RegionState, RunNow } from '../../proto/gen/probe/v1/fleet.ts'
import type { Why } from './book.ts'

/**
 * What a probe is still owed, as names of monitors and never as messages: a slow probe costs a set of ids, however much
 * changes meanwhile, and hears only the newest of it.
 */
export type Outbox = {
  snapshot: { ids: string[]; next: number; revision: number; epoch: number } | null
  dirty: Map<string, Why>
  states: Map<string, RegionState>
  /** checks to make at once, by run; they follow the assignments, so the probe that checks the monitor knows the check */
  runs: Map<string, RunNow>
  /** what the probe has */
  revision: number
  epoch: number
  toldEpoch: number
  /** a delta is due although nothing changed: it tells a probe that came back that what it has is right */
  mustConfirm: boolean
}

export type Piece =
  | { kind: 'assignments'; ids: [string, Why][]; isSnapshot: boolean; isLast: boolean; revision: number; epoch: number }
  | { kind: 'epoch'; epoch: number }
  | { kind: 'states'; states: [string, RegionState][] }
  | { kind: 'run'; run: RunNow }

/** Limits of one message (decisions 11.1: snapshots come in chunks). */
export const CHUNK_ASSIGNMENTS = 500
export const CHUNK_BYTES = 1024 * 1024
/** More than a region of ten thousand monitors asks for when all of them fail at once. */
export const RUNS_AT_MOST = 20_000

type Place = { revision: number; epoch: number }

/** For a probe whose assignments are of `has`; `dirty` names what changed for it since. */
export function createOutbox(has: Place, toldEpoch: number, dirty: string[]): Outbox {
  return {
    snapshot: null,
    dirty: new Map(dirty.map(id => [id, 'changed'])),
    states: new Map(),
    runs: new Map(),
    ...has,
    toldEpoch,
    mustConfirm: true,
  }
}

/** For a probe that has nothing we can build on: everything it has to check, as of `now`. */
export function createSnapshotOutbox(now: Place, ids: string[]): Outbox {
  return {
    snapshot: { ids, next: 0, ...now },
    dirty: new Map(),
    states: new Map(),
    runs: new Map(),
    revision: 0,
    epoch: 0,
    toldEpoch: now.epoch,
    mustConfirm: false,
  }
}

/** Notes that a monitor is not any more what the probe has. A change outweighs a move. */
export function markDirty(outbox: Outbox, monitorId: string, why: Why): void {
  if (outbox.dirty.get(monitorId) !== 'changed') outbox.dirty.set(monitorId, why)
}

/** Owes the probe a check at once. False: it takes them too slowly, and this one is not owed. */
export function addRun(outbox: Outbox, run: RunNow): boolean {
  if (outbox.runs.size >= RUNS_AT_MOST) return false
  outbox.runs.set(run.runId, run)
  return true
}

/**
 * Takes out the next message's worth: first assignments, then the epoch, then region states, then checks at once, one
 * by one. `now` is where the book stands: with the last chunk the probe has everything up to there, with the others only
 * what it had before. Null when nothing is owed.
 */
export function takePiece(outbox: Outbox, now: Place, sizeOf: (monitorId: string) => number): Piece | null {
  if (outbox.snapshot) return takeSnapshotChunk(outbox, outbox.snapshot, sizeOf)
  if (outbox.dirty.size > 0 || outbox.mustConfirm) return takeDelta(outbox, now, sizeOf)
  if (outbox.toldEpoch !== now.epoch) {
    outbox.toldEpoch = now.epoch
    outbox.epoch = now.epoch
    return { kind: 'epoch', epoch: now.epoch }
  }
  if (outbox.states.size > 0) {
    const states = [...outbox.states]
    outbox.states.clear()
    return { kind: 'states', states }
  }
  for (const run of outbox.runs.values()) {
    outbox.runs.delete(run.runId)
    return { kind: 'run', run }
  }
  return null
}

function takeSnapshotChunk(
  outbox: Outbox,
  snapshot: NonNullable<Outbox['snapshot']>,
  sizeOf: (monitorId: string) => number,
): Piece {
  const { revision, epoch } = snapshot
  const end = snapshot.next + chunkLength(snapshot.ids, snapshot.next, sizeOf)
  const ids = snapshot.ids.slice(snapshot.next, end).map((id): [string, Why] => [id, 'moved'])
  snapshot.next = end
  const isLast = end >= snapshot.ids.length
  if (isLast) Object.assign(outbox, { snapshot: null, revision, epoch })
  return { kind: 'assignments', ids, isSnapshot: true, isLast, revision, epoch }
}

function takeDelta(outbox: Outbox, now: Place, sizeOf: (monitorId: string) => number): Piece {
  outbox.mustConfirm = false
  const first: string[] = []
  for (const id of outbox.dirty.keys()) if (first.push(id) === CHUNK_ASSIGNMENTS) break
  const ids = first
    .slice(0, chunkLength(first, 0, sizeOf))
    .map((id): [string, Why] => [id, outbox.dirty.get(id) ?? 'moved'])
  for (const [id] of ids) outbox.dirty.delete(id)
  if (outbox.dirty.size === 0) Object.assign(outbox, { revision: now.revision, epoch: now.epoch })
  const { revision, epoch } = outbox
  return { kind: 'assignments', ids, isSnapshot: false, isLast: outbox.dirty.size === 0, revision, epoch }
}

function chunkLength(ids: string[], from: number, sizeOf: (monitorId: string) => number): number {
  let bytes = 0
  let length = 0
  while (length < CHUNK_ASSIGNMENTS && from + length < ids.length) {
    bytes += sizeOf(ids[from + length]!)
    if (bytes > CHUNK_BYTES && length > 0) break
    length++
  }
  return length
}
