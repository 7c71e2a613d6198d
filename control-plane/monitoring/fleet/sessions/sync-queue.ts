import type { RegionState, RunNow } from '../../../../proto/gen/probe/v1/fleet.ts'
import type { ChangeReason } from '../assignments/assignment-table.ts'

/**
 * What a probe is still owed, as names of monitors and never as messages: a slow probe costs a set of ids, however much
 * changes meanwhile, and hears only the newest of it.
 */
export type ProbeSyncQueue = {
  snapshot: { ids: string[]; next: number; revision: number; epoch: number } | null
  changedMonitors: Map<string, ChangeReason>
  states: Map<string, RegionState>
  /** checks to make at once, by run; they follow the assignments, so the probe that checks the monitor knows the check */
  runs: Map<string, RunNow>
  /** what the probe has */
  revision: number
  epoch: number
  sentEpoch: number
  /** a delta is due although nothing changed: it tells a probe that came back that what it has is right */
  needsConfirmation: boolean
}

export type SyncMessage =
  | {
      kind: 'assignments'
      ids: [string, ChangeReason][]
      isSnapshot: boolean
      isLast: boolean
      revision: number
      epoch: number
    }
  | { kind: 'epoch'; epoch: number }
  | { kind: 'states'; states: [string, RegionState][] }
  | { kind: 'run'; run: RunNow }

/** Limits of one message (decisions 11.1: snapshots come in chunks). */
export const MAX_CHUNK_ASSIGNMENTS = 500
export const MAX_CHUNK_BYTES = 1024 * 1024
/** More than a region of ten thousand monitors asks for when all of them fail at once. */
export const MAX_PENDING_RUNS = 20_000

type SyncPosition = { revision: number; epoch: number }

/** For a probe whose assignments are of `has`; `changedMonitors` names what changed for it since. */
export function createDeltaQueue(has: SyncPosition, sentEpoch: number, changedMonitors: string[]): ProbeSyncQueue {
  return {
    snapshot: null,
    changedMonitors: new Map(changedMonitors.map(id => [id, 'changed'])),
    states: new Map(),
    runs: new Map(),
    ...has,
    sentEpoch,
    needsConfirmation: true,
  }
}

/** For a probe that has nothing we can build on: everything it has to check, as of `now`. */
export function createSnapshotQueue(now: SyncPosition, ids: string[]): ProbeSyncQueue {
  return {
    snapshot: { ids, next: 0, ...now },
    changedMonitors: new Map(),
    states: new Map(),
    runs: new Map(),
    revision: 0,
    epoch: 0,
    sentEpoch: now.epoch,
    needsConfirmation: false,
  }
}

/** Notes that a monitor is not any more what the probe has. A change outweighs a move. */
export function queueMonitor(syncQueue: ProbeSyncQueue, monitorId: string, why: ChangeReason): void {
  if (syncQueue.changedMonitors.get(monitorId) !== 'changed') syncQueue.changedMonitors.set(monitorId, why)
}

/** Owes the probe a check at once. False: it takes them too slowly, and this one is not owed. */
export function queueRun(syncQueue: ProbeSyncQueue, run: RunNow): boolean {
  if (syncQueue.runs.size >= MAX_PENDING_RUNS) return false
  syncQueue.runs.set(run.runId, run)
  return true
}

/**
 * Takes out the next message's worth: first assignments, then the epoch, then region states, then checks at once, one
 * by one. `now` is where the table stands: with the last chunk the probe has everything up to there, with the others only
 * what it had before. Null when nothing is owed.
 */
export function takeMessage(
  syncQueue: ProbeSyncQueue,
  now: SyncPosition,
  sizeOf: (monitorId: string) => number,
): SyncMessage | null {
  if (syncQueue.snapshot) return takeSnapshotChunk(syncQueue, syncQueue.snapshot, sizeOf)
  if (syncQueue.changedMonitors.size > 0 || syncQueue.needsConfirmation) return takeDelta(syncQueue, now, sizeOf)
  if (syncQueue.sentEpoch !== now.epoch) {
    syncQueue.sentEpoch = now.epoch
    syncQueue.epoch = now.epoch
    return { kind: 'epoch', epoch: now.epoch }
  }
  if (syncQueue.states.size > 0) {
    const states = [...syncQueue.states]
    syncQueue.states.clear()
    return { kind: 'states', states }
  }
  for (const run of syncQueue.runs.values()) {
    syncQueue.runs.delete(run.runId)
    return { kind: 'run', run }
  }
  return null
}

function takeSnapshotChunk(
  syncQueue: ProbeSyncQueue,
  snapshot: NonNullable<ProbeSyncQueue['snapshot']>,
  sizeOf: (monitorId: string) => number,
): SyncMessage {
  const { revision, epoch } = snapshot
  const end = snapshot.next + computeChunkLength(snapshot.ids, snapshot.next, sizeOf)
  const ids = snapshot.ids.slice(snapshot.next, end).map((id): [string, ChangeReason] => [id, 'moved'])
  snapshot.next = end
  const isLast = end >= snapshot.ids.length
  if (isLast) Object.assign(syncQueue, { snapshot: null, revision, epoch })
  return { kind: 'assignments', ids, isSnapshot: true, isLast, revision, epoch }
}

function takeDelta(syncQueue: ProbeSyncQueue, now: SyncPosition, sizeOf: (monitorId: string) => number): SyncMessage {
  syncQueue.needsConfirmation = false
  const first: string[] = []
  for (const id of syncQueue.changedMonitors.keys()) if (first.push(id) === MAX_CHUNK_ASSIGNMENTS) break
  const ids = first
    .slice(0, computeChunkLength(first, 0, sizeOf))
    .map((id): [string, ChangeReason] => [id, syncQueue.changedMonitors.get(id) ?? 'moved'])
  for (const [id] of ids) syncQueue.changedMonitors.delete(id)
  if (syncQueue.changedMonitors.size === 0) Object.assign(syncQueue, { revision: now.revision, epoch: now.epoch })
  const { revision, epoch } = syncQueue
  return { kind: 'assignments', ids, isSnapshot: false, isLast: syncQueue.changedMonitors.size === 0, revision, epoch }
}

function computeChunkLength(ids: string[], from: number, sizeOf: (monitorId: string) => number): number {
  let bytes = 0
  let length = 0
  while (length < MAX_CHUNK_ASSIGNMENTS && from + length < ids.length) {
    bytes += sizeOf(ids[from + length]!)
    if (bytes > MAX_CHUNK_BYTES && length > 0) break
    length++
  }
  return length
}
