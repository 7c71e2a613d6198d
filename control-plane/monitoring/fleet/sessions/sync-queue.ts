import type { RegionState, RunNow } from '../../../../proto/gen/probe/v1/fleet.ts'
import type { ChangeReason } from '../assignments/assignment-table.ts'

/**
 * What still has to be sent to a probe, as ids of monitors, never as messages. A slow probe costs only a set of ids, however
 * much changes, and gets only the newest version (docs/design/assignments.md#synchronization).
 */
export type ProbeSyncQueue = {
  snapshot: { ids: string[]; next: number; revision: number; epoch: number } | null
  changedMonitors: Map<string, ChangeReason>
  states: Map<string, RegionState>
  /** immediate checks by run; they are sent after the assignments, so the probe already has the check */
  runs: Map<string, RunNow>
  /** the revision and epoch that the probe has */
  revision: number
  epoch: number
  sentEpoch: number
  /** a delta is sent although nothing changed: it confirms the assignments of a probe that reconnected */
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

/** The limits of one message. */
const MAX_CHUNK_ASSIGNMENTS = 500
export const MAX_CHUNK_BYTES = 1024 * 1024
/** More than a region of ten thousand monitors requests when all of them fail at the same time. */
export const MAX_PENDING_RUNS = 20_000

type SyncPosition = { revision: number; epoch: number }

/** Creates the queue for a probe whose assignments have the position `has`. `changedMonitors`: what changed for it since. */
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

/** Creates the queue for a probe without usable assignments: everything that it has to check, at the position `now`. */
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

/** Queues a monitor whose assignment differs from what the probe has. `changed` takes precedence over `moved`. */
export function queueMonitor(syncQueue: ProbeSyncQueue, monitorId: string, why: ChangeReason): void {
  if (syncQueue.changedMonitors.get(monitorId) !== 'changed') syncQueue.changedMonitors.set(monitorId, why)
}

/** Queues an immediate check. Returns false, without queueing it, when the probe reads its messages too slowly. */
export function queueRun(syncQueue: ProbeSyncQueue, run: RunNow): boolean {
  if (syncQueue.runs.size >= MAX_PENDING_RUNS) return false
  syncQueue.runs.set(run.runId, run)
  return true
}

/**
 * Removes the next message from the queue: first assignments, then the epoch, region states, and immediate checks one by one.
 * `now` is the position of the table. With the last chunk the probe has everything up to it, with earlier chunks only what it
 * had before. Returns null when the queue is empty.
 */
export function takeMessage(
  syncQueue: ProbeSyncQueue,
  now: SyncPosition,
  getSize: (monitorId: string) => number,
): SyncMessage | null {
  if (syncQueue.snapshot) return takeSnapshotChunk(syncQueue, syncQueue.snapshot, getSize)
  if (syncQueue.changedMonitors.size > 0 || syncQueue.needsConfirmation) return takeDelta(syncQueue, now, getSize)
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
  getSize: (monitorId: string) => number,
): SyncMessage {
  const { revision, epoch } = snapshot
  const end = snapshot.next + computeChunkLength(snapshot.ids, snapshot.next, getSize)
  const ids = snapshot.ids.slice(snapshot.next, end).map((id): [string, ChangeReason] => [id, 'moved'])
  snapshot.next = end
  const isLast = end >= snapshot.ids.length
  if (isLast) Object.assign(syncQueue, { snapshot: null, revision, epoch })
  return { kind: 'assignments', ids, isSnapshot: true, isLast, revision, epoch }
}

function takeDelta(syncQueue: ProbeSyncQueue, now: SyncPosition, getSize: (monitorId: string) => number): SyncMessage {
  syncQueue.needsConfirmation = false
  const first: string[] = []
  for (const id of syncQueue.changedMonitors.keys()) if (first.push(id) === MAX_CHUNK_ASSIGNMENTS) break
  const ids = first
    .slice(0, computeChunkLength(first, 0, getSize))
    .map((id): [string, ChangeReason] => [id, syncQueue.changedMonitors.get(id) ?? 'moved'])
  for (const [id] of ids) syncQueue.changedMonitors.delete(id)
  if (syncQueue.changedMonitors.size === 0) Object.assign(syncQueue, { revision: now.revision, epoch: now.epoch })
  const { revision, epoch } = syncQueue
  return { kind: 'assignments', ids, isSnapshot: false, isLast: syncQueue.changedMonitors.size === 0, revision, epoch }
}

function computeChunkLength(ids: string[], from: number, getSize: (monitorId: string) => number): number {
  let bytes = 0
  let length = 0
  while (length < MAX_CHUNK_ASSIGNMENTS && from + length < ids.length) {
    bytes += getSize(ids[from + length]!)
    if (bytes > MAX_CHUNK_BYTES && length > 0) break
    length++
  }
  return length
}
