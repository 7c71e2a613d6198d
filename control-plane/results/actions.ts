import type { Log } from '../../shared/log.ts'
import { RESULTS_STREAM } from '../../shared/subjects.ts'
import { monotonicMs, sleep } from '../platform/clock.ts'
import { logNowMs, type Nats } from '../platform/nats.ts'
import { takenAtMs } from '../platform/ordered-reader.ts'
import type { Db, Tx } from '../platform/postgres.ts'
import type { MonitorState } from '../verdict/types.ts'
import { keyOfCertificate, type SeenCertificate } from './certificates.ts'
import type { Marked } from './checkpoint.ts'
import { beginCounting, type Counting, type CountingTools, noteReadAgain, noteUnstored } from './counting.ts'
import { asBefore, type Deferred, withDeferred } from './deferred.ts'
import { deferredOf } from './deferred-store.ts'
import type { KnownLiveSets } from './live-sets-actions.ts'
import { countHeld, type Memory, takeUp } from './memory.ts'
import type { VerdictMeters } from './meters.ts'
import { droppedSince, type Mark, type StreamState } from './start-position.ts'
import {
  FencedError,
  MovedError,
  partitionAt,
  type StoredPosition,
  storePosition,
  watchesOf,
  watchesOfPartition,
} from './store.ts'
import { newStrangers, noteStranger, type Strangers } from './strangers.ts'

/** How long a partition stays its owner's without a sign of life. */
export const LEASE_MS = 7_000

export type ReaderTools = CountingTools & {
  db: Db
  nats: Nats
  log: Log
  meters: VerdictMeters
  publicUrl: string
  liveSets: KnownLiveSets
  /** keeps certificates not met before; the same ones again change nothing. Answers the monitors that were locked. */
  storeCertificates: (seen: SeenCertificate[]) => Promise<string[]>
}

/** What one reading of a partition goes by, from a (re)start to its end. */
export type Reading = Counting & {
  tools: ReaderTools
  partition: { id: number; epoch: number }
  strangers: Strangers
  /** monitors to read again before the next result counts */
  stale: Set<string>
  /** the date of the stream that is being read */
  streamCreated: string
  /** where the position is in PostgreSQL, and since when */
  stored: StoredPosition
  savedMs: number
  /** when the next checkpoint is due, by the monotonic clock, and where the last one was made */
  checkpoint: { dueMs: number; sequence: number }
  /** changes that wait for rows which other transactions have locked; PostgreSQL has them, too */
  deferred: Deferred
  /** projects whose rows were found locked: what changes of them meanwhile waits at once */
  heldProjects: Set<string>
  /** when they are tried again, by the monotonic clock, and how long they wait then */
  retry: { dueMs: number; pauseMs: number }
  /** aborted when this reading is to end */
  signal: AbortSignal
}

/** Loads what a partition's owner has to know. Throws a FencedError when it is the owner no more. */
export async function beginReading(
  tools: ReaderTools,
  owned: { id: number; epoch: number },
  stream: StreamState,
  checkpoint: (Mark & { marked: Marked }) | null,
  stale: Set<string>,
  signal: AbortSignal,
): Promise<Reading> {
  const partition = await partitionAt(tools.db, owned.id, owned.epoch)
  const foundAtMs = await takenAtMs(tools.nats, RESULTS_STREAM, partition.position)
  const memory: Memory = new Map()
  const deferred = await deferredOf(tools.db, owned.id)
  for (const stored of await watchesOfPartition(tools.db, owned.id)) {
    const { row } = withDeferred(deferred, stored.id, stored)
    takeUp(memory, stored.id, row, { lookedForVersion: stored.configVersion, isDiscarded: false })
  }
  for (const id of deferred.keys()) if (!memory.has(id)) withDeferred(deferred, id, null)
  const clocks = { monotonicMs: monotonicMs(), logMs: logNowMs(tools.nats) }
  const { absences } = tools.liveSets.absences()
  const counting = beginCounting(memory, partition, { stream, foundAtMs, checkpoint, absences, ...clocks })
  const { start, mark, position } = counting
  if (start.position < partition.position) {
    tools.log.warn({ partition: owned.id, ...stream, stored: partition.position }, 'the stream is another one')
  }
  const at = { partition: owned.id, epoch: owned.epoch, position: position.sequence }
  tools.log.info({ event: 'reading', ...at }, 'reading of a partition continues')
  noteGap(tools, owned.id, memory, droppedSince(start, stream))
  return {
    ...counting,
    tools,
    partition: owned,
    strangers: newStrangers(monotonicMs()),
    stale,
    streamCreated: stream.created,
    stored: { sequence: partition.position, streamCreated: partition.streamCreated },
    savedMs: monotonicMs(),
    checkpoint: { dueMs: 0, sequence: mark && start.position > 0 ? mark.sequence : 0 },
    deferred,
    heldProjects: new Set(),
    retry: { dueMs: 0, pauseMs: 0 },
    signal,
  }
}

/** Reading goes on at the first message that is there. Without monitors nothing of the partition was among the others. */
function noteGap({ meters, log }: ReaderTools, partition: number, memory: Memory, dropped: number): void {
  if (dropped === 0 || memory.size === 0) return
  meters.gaps.inc()
  log.warn({ partition, dropped }, 'messages left the stream after the stored position; reading goes on behind them')
}

/**
 * Reads monitors from the database into memory; one that is not of this partition is unknown here. `versions`: by
 * monitor, the config version because of which it is looked for. `before`: the states before changes that were given up.
 */
export async function lookAgain(
  reading: Reading,
  versions: Map<string, number>,
  options: { isDiscarded: boolean; before?: Map<string, MonitorState | null> },
): Promise<void> {
  const { tools, memory, partition, deferred, certificates, strangers } = reading
  const { isDiscarded, before: states } = options
  const rows = await watchesOf(tools.db, partition.id, [...versions.keys()])
  tools.meters.lookedFor.inc(versions.size)
  const stored = new Map(rows.map(row => [row.id, row]))
  for (const [id, version] of versions) {
    const { row, isVoid } = withDeferred(deferred, id, stored.get(id) ?? null)
    const lookedForVersion = Math.max(version, row?.configVersion ?? 0)
    const before = memory.get(id)
    const known = asBefore(row, states?.get(id) ?? null)
    takeUp(memory, id, known, { isDiscarded: isDiscarded || isVoid, lookedForVersion })
    if ((isDiscarded || isVoid) && known?.state && memory.has(id)) noteUnstored(reading, id)
    if (memory.has(id)) {
      noteReadAgain(reading, id, monotonicMs())
      continue
    }
    noteStranger(strangers, id, monotonicMs())
    for (const region of before?.policy?.regions ?? []) certificates.delete(keyOfCertificate({ monitorId: id, region }))
  }
}

/** Stores how far results are counted when only memory has changed since the last time. */
export async function savePosition(reading: Reading): Promise<void> {
  const { tools, partition, memory, position, streamCreated, stored } = reading
  tools.meters.held.set({ partition: partition.id }, countHeld(memory))
  tools.meters.watched.set({ partition: partition.id }, memory.size)
  if (position.sequence !== stored.sequence || streamCreated !== stored.streamCreated) {
    await movePosition(tools.db, reading, 0)
  }
  noteSaved(reading)
}

/**
 * Moves the stored position to the reading's; `noteSaved` has to follow once that is committed. The transaction then
 * waits at most `lockMs` for a lock; 0: as long as it has to.
 */
export function movePosition(db: Db | Tx, reading: Reading, lockMs: number): Promise<void> {
  const { partition, stored, position, streamCreated } = reading
  return storePosition(db, partition, stored, { ...position, streamCreated }, { leaseMs: LEASE_MS, lockMs })
}

export function noteSaved(reading: Reading): void {
  const { position, streamCreated } = reading
  reading.stored = { sequence: position.sequence, streamCreated }
  reading.savedMs = monotonicMs()
}

const SHORTEST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000

/**
 * Repeats a step that an engine refused or did not answer, with growing pauses, until it succeeds: what is in memory
 * stays true meanwhile, so nothing has to be read again. Throws what only a new beginning can cure: another process
 * owns the partition, the stored position is not the known one, or we are wrong. Throws too when the reading has to end.
 */
export async function persistently<T>({ tools, partition, signal }: Reading, step: () => Promise<T>): Promise<T> {
  for (let pauseMs = SHORTEST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await step()
    } catch (err) {
      if (signal.aborted || err instanceof FencedError || err instanceof MovedError || isOurFault(err)) throw err
      tools.meters.restarts.inc()
      tools.log.error({ err, partition: partition.id, pauseMs }, 'a partition waits; the same step comes again')
      await sleep(pauseMs, signal)
      if (signal.aborted) throw err
    }
  }
}

const isOurFault = (error: unknown) =>
  error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError
