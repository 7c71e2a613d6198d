import { RESULTS_STREAM } from '../../../shared/nats/subjects.ts'
import type { Log } from '../../../shared/process/log.ts'
import { jetstreamNowMs, type Nats } from '../../foundation/platform/nats/client.ts'
import { findTakenAtMs } from '../../foundation/platform/nats/ordered-reader.ts'
import type { Db, Tx } from '../../foundation/platform/postgres/client.ts'
import { monotonicMs, sleep } from '../../foundation/platform/time/clock.ts'
import type { MonitorState } from '../core/types.ts'
import type { CheckpointContents } from './checkpoint/checkpoint.ts'
import { applyDeferredChange, type DeferredChanges, restoreStateBefore } from './commit/deferred.ts'
import { loadDeferredChanges } from './commit/deferred-store.ts'
import { type CertificateOutcome, forgetCertificates, type ObservedCertificate } from './counting/certificates.ts'
import {
  type CountingState,
  type CountingTools,
  markReloaded,
  markUnstored,
  startCounting,
} from './counting/counting-state.ts'
import { countHeldMonitors, loadMonitor, type TrackedMonitors } from './counting/tracked-monitors.ts'
import { createUnknownMonitors, recordUnknownMonitor, type UnknownMonitors } from './counting/unknown-monitors.ts'
import type { KnownLiveSets } from './live-sets/live-sets-actions.ts'
import type { VerdictMetrics } from './metrics.ts'
import {
  FencedError,
  loadMonitors,
  loadPartitionMonitors,
  lockPartition,
  PositionMovedError,
  type StoredPosition,
  storePosition,
} from './partitions/partition-store.ts'
import { type CheckpointPosition, countDroppedMessages, type StreamBounds } from './partitions/start-position.ts'

/** How long a partition remains its owner's without a renewal. */
export const LEASE_MS = 7_000

export type ReaderTools = CountingTools & {
  db: Db
  nats: Nats
  log: Log
  metrics: VerdictMetrics
  publicUrl: string
  liveSets: KnownLiveSets
  /** stores certificates; of known ones, only the time changes */
  storeCertificates: (seen: ObservedCertificate[]) => Promise<CertificateOutcome>
}

/** The state of one reader of a partition, from a start or restart to its end. */
export type PartitionReading = CountingState & {
  tools: ReaderTools
  partition: { id: number; epoch: number }
  unknownMonitors: UnknownMonitors
  /** monitors to read again before the next result counts */
  stale: Set<string>
  /** the creation time of the stream that is being read */
  streamCreated: string
  /** the position in PostgreSQL, and when it was stored */
  stored: StoredPosition
  savedMs: number
  /** when the next checkpoint is due, by the monotonic clock, and the position of the last one */
  checkpoint: { dueMs: number; sequence: number }
  /** changes that wait for rows locked by other transactions; also stored in `deferred_changes` */
  deferred: DeferredChanges
  /** projects whose rows were found locked; their next changes are deferred without a try */
  lockedProjects: Set<string>
  /** when deferred changes are retried, by the monotonic clock, and the current pause between tries */
  retry: { dueMs: number; pauseMs: number }
  /** aborted when this reader has to stop */
  signal: AbortSignal
}

/**
 * Loads the partition:
 *
 * 1. Lock and read the stored position, so that no earlier transaction can still move it.
 * 2. Look for the message at this position in the stream.
 * 3. Load the deferred changes, then the monitors with their states; apply the former to the latter.
 * 4. Compute where to begin to read, and load the checkpoint into memory if it can be used.
 * 5. Report messages that left the stream unread.
 *
 * Throws a FencedError if another process has taken the partition.
 */
export async function startReading(
  tools: ReaderTools,
  owned: { id: number; epoch: number },
  stream: StreamBounds,
  checkpoint: (CheckpointPosition & { marked: CheckpointContents }) | null,
  stale: Set<string>,
  signal: AbortSignal,
): Promise<PartitionReading> {
  const partition = await lockPartition(tools.db, owned.id, owned.epoch)
  const foundAtMs = await findTakenAtMs(tools.nats, RESULTS_STREAM, partition.position)
  const memory: TrackedMonitors = new Map()
  const deferred = await loadDeferredChanges(tools.db, owned.id)
  for (const stored of await loadPartitionMonitors(tools.db, owned.id)) {
    const { row } = applyDeferredChange(deferred, stored.id, stored)
    loadMonitor(memory, stored.id, row, { lookedForVersion: stored.configVersion, isDiscarded: false })
  }
  for (const id of deferred.keys()) if (!memory.has(id)) applyDeferredChange(deferred, id, null)
  const clocks = { monotonicMs: monotonicMs(), logMs: jetstreamNowMs(tools.nats) }
  const { absences } = tools.liveSets.absences()
  const counting = startCounting(memory, partition, { stream, foundAtMs, checkpoint, absences, ...clocks })
  const { start, mark, position } = counting
  if (start.position < partition.position) {
    tools.log.warn(
      { partition: owned.id, ...stream, stored: partition.position },
      'the stream was created again; reading from its beginning',
    )
  }
  const at = { partition: owned.id, epoch: owned.epoch, position: position.sequence }
  tools.log.info({ event: 'reading', ...at }, 'reading a partition')
  reportGap(tools, owned.id, memory, countDroppedMessages(start, stream))
  return {
    ...counting,
    tools,
    partition: owned,
    unknownMonitors: createUnknownMonitors(monotonicMs()),
    stale,
    streamCreated: stream.created,
    stored: { sequence: partition.position, streamCreated: partition.streamCreated },
    savedMs: monotonicMs(),
    checkpoint: { dueMs: 0, sequence: mark && start.position > 0 ? mark.sequence : 0 },
    deferred,
    lockedProjects: new Set(),
    retry: { dueMs: 0, pauseMs: 0 },
    signal,
  }
}

/** Reports that messages left the stream unread. In a partition without monitors none of them mattered. */
function reportGap({ metrics, log }: ReaderTools, partition: number, memory: TrackedMonitors, dropped: number): void {
  if (dropped === 0 || memory.size === 0) return
  metrics.gaps.inc()
  log.warn({ partition, dropped }, 'messages left the stream before they were read; continuing after them')
}

/**
 * Reads monitors from the database into memory. A monitor of another partition is unknown here. `versions`: by monitor,
 * the config version that is looked for. `before`: the states from before changes that were discarded.
 */
export async function reloadMonitors(
  reading: PartitionReading,
  versions: Map<string, number>,
  options: { isDiscarded: boolean; before?: Map<string, MonitorState | null> },
): Promise<void> {
  const { tools, memory, partition, deferred, certificates, unknownMonitors } = reading
  const { isDiscarded, before: states } = options
  const rows = await loadMonitors(tools.db, partition.id, [...versions.keys()])
  tools.metrics.lookedFor.inc(versions.size)
  const stored = new Map(rows.map(row => [row.id, row]))
  for (const [id, version] of versions) {
    const { row, isVoid } = applyDeferredChange(deferred, id, stored.get(id) ?? null)
    const lookedForVersion = Math.max(version, row?.configVersion ?? 0)
    const before = memory.get(id)
    const known = restoreStateBefore(row, states?.get(id) ?? null)
    loadMonitor(memory, id, known, { isDiscarded: isDiscarded || isVoid, lookedForVersion })
    if ((isDiscarded || isVoid) && known?.state && memory.has(id)) markUnstored(reading, id)
    if (memory.has(id)) {
      markReloaded(reading, id, monotonicMs())
      continue
    }
    recordUnknownMonitor(unknownMonitors, id, monotonicMs())
    forgetCertificates(certificates, id, before?.policy?.regions ?? [])
  }
}

/** Stores the position with nothing else, or, with `move`, as that does. */
export async function savePosition(
  reading: PartitionReading,
  move: () => Promise<void> = () => movePosition(reading.tools.db, reading, 0),
): Promise<void> {
  const { tools, partition, memory, position, streamCreated, stored } = reading
  tools.metrics.held.set({ partition: partition.id }, countHeldMonitors(memory))
  tools.metrics.watched.set({ partition: partition.id }, memory.size)
  if (position.sequence !== stored.sequence || streamCreated !== stored.streamCreated) await move()
  markSaved(reading)
}

/**
 * Moves the stored position to the reader's position. `markSaved` has to follow after the commit. From then on the
 * transaction waits at most `lockMs` for a lock; 0: without a limit.
 */
export function movePosition(db: Db | Tx, reading: PartitionReading, lockMs: number): Promise<void> {
  const { partition, stored, position, streamCreated } = reading
  return storePosition(db, partition, stored, { ...position, streamCreated }, { leaseMs: LEASE_MS, lockMs })
}

export function markSaved(reading: PartitionReading): void {
  const { position, streamCreated } = reading
  reading.stored = { sequence: position.sequence, streamCreated }
  reading.savedMs = monotonicMs()
}

const MIN_RETRY_DELAY_MS = 250
const MAX_RETRY_DELAY_MS = 5_000

/**
 * Repeats a step that PostgreSQL or NATS refused or did not answer, with growing pauses, until it succeeds. Memory
 * stays valid in the meantime, so nothing has to be read again. Throws errors that only a new start can repair (another
 * process owns the partition, the stored position is not the known one, a programming error), and any error when the
 * reader has to stop.
 */
export async function retryUntilDone<T>(
  { tools, partition, signal }: PartitionReading,
  step: () => Promise<T>,
): Promise<T> {
  for (let pauseMs = MIN_RETRY_DELAY_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_RETRY_DELAY_MS)) {
    try {
      return await step()
    } catch (err) {
      if (signal.aborted || err instanceof FencedError || err instanceof PositionMovedError || isProgrammingError(err))
        throw err
      tools.metrics.restarts.inc()
      tools.log.error({ err, partition: partition.id, pauseMs }, 'a step of a partition failed; repeating it')
      await sleep(pauseMs, signal)
      if (signal.aborted) throw err
    }
  }
}

const isProgrammingError = (error: unknown) =>
  error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError
