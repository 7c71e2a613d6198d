import { type ResultBatch, Trigger } from '../../../../shared/checks/result.ts'
import type { RegionAbsences } from '../../core/types.ts'
import { applyCheckpoint, type CheckpointContents } from '../checkpoint/checkpoint.ts'
import { applyAbsences, isReadAfterStep, type KnownAbsences, shiftAbsences } from '../live-sets/absences.ts'
import { findNewestEpoch, findRefusal, type RegionLiveSet } from '../live-sets/live-sets.ts'
import type { OwnedPartition } from '../partitions/partition-store.ts'
import {
  type CheckpointPosition,
  computeStartPosition,
  isAlreadyCounted,
  type StartPosition,
  type StreamBounds,
} from '../partitions/start-position.ts'
import type { RegionCoverage } from '../unchecked/region-coverage.ts'
import { createReaderCoverage, type ReaderCoverage } from '../unchecked/unchecked.ts'
import { type BatchEffects, countDoubted, selectRegionCounts, type UnstoredMonitors } from './batch-effects.ts'
import { createKnownCertificates, type KnownCertificates, recordCertificate } from './certificates.ts'
import { toVerdictResult } from './decode.ts'
import { computeTolerance, createStreamClock, detectClockStep, type StreamClock } from './stream-clock.ts'
import {
  addOverdueChanges,
  computeMaxVoteLifetimeMs,
  countResult,
  replayResult,
  restoreStates,
  revertChanges,
  shiftAllTimes,
  startCountingAt,
  type TrackedMonitors,
} from './tracked-monitors.ts'

/** What counting needs; shared by all readers of a process. */
export type CountingTools = {
  /** monitors that other monitors depend on, as far as this process knows */
  parents: ReadonlySet<string>
  /** the probes whose results count */
  liveSets: { of(region: string): RegionLiveSet | undefined }
  /** whether the silence of a region is explained */
  regionCoverage: RegionCoverage
  /** Logs and counts what cannot be used. */
  setAside: (what: string, message: string, details: { err: unknown; [name: string]: unknown }) => void
}

/** What one reader of a partition has in memory. */
export type CountingState = {
  memory: TrackedMonitors
  certificates: KnownCertificates
  start: StartPosition
  /** the position of the checkpoint from which memory was loaded; null without one */
  mark: Pick<CheckpointPosition, 'sequence' | 'takenAtMs'> | null
  streamClock: StreamClock
  /** up to where results are counted */
  position: { sequence: number; takenAtMs: number | null }
  /** states that are in memory and in checkpoints only */
  unstored: UnstoredMonitors
  /** the regions without a probe that the policies in memory contain */
  absences: RegionAbsences
  /** when JetStream's clock was found to be set last, by the monotonic clock */
  steppedMs: number
  /** whether this reader has recently seen all messages */
  coverage: ReaderCoverage
  /** true after the first message that was not counted before */
  isCounting: boolean
}

/** Used as the time since when a state waits to be stored: store it with the next results. */
const LONG_AGO = 0

/**
 * How long a state that decides nothing may be in memory and in checkpoints only: half of what is read again after a
 * restart. So a region that fails for all its monitors causes no writes while streaks grow, and later one write a
 * monitor, a few at a time.
 */
const MAX_UNSTORED_MS = 60_000
const LATE_STORES_PER_BATCH = 200

/**
 * What is known when reading begins. `foundAtMs`: the time of the message at the stored position; null if it is gone.
 */
type ReadingStart = {
  stream: StreamBounds
  foundAtMs: number | null
  checkpoint: (CheckpointPosition & { marked: CheckpointContents }) | null
  absences: RegionAbsences
  monotonicMs: number
  logMs: number
}

/** Begins with the stored monitors, and with the checkpoint if it can be used. */
export function startCounting(
  memory: TrackedMonitors,
  partition: OwnedPartition,
  { stream, foundAtMs, checkpoint, absences, monotonicMs, logMs }: ReadingStart,
): CountingState {
  const start = computeStartPosition(partition, stream, {
    mark: checkpoint,
    foundAtMs,
    voteMs: computeMaxVoteLifetimeMs(memory),
  })
  const mark = start.isMarked ? checkpoint : null
  const unstored: UnstoredMonitors = new Map()
  if (mark) for (const id of applyCheckpoint(memory, mark.marked)) unstored.set(id, LONG_AGO)
  restoreStates(memory, start.knownFromMs)
  applyAbsences(memory, absences)
  return {
    ...{ memory, start, unstored, absences },
    mark: mark && { sequence: mark.sequence, takenAtMs: mark.takenAtMs },
    certificates: createKnownCertificates(),
    streamClock: createStreamClock(logMs, monotonicMs),
    position: { sequence: start.position, takenAtMs: start.positionAtMs },
    steppedMs: Number.NEGATIVE_INFINITY,
    coverage: createReaderCoverage(),
    isCounting: false,
  }
}

/** Updates which regions have no probe. */
export function updateRegionAbsences(counting: CountingState, known: KnownAbsences): void {
  if (known.absences === counting.absences || !isReadAfterStep(known, counting.steppedMs)) return
  counting.absences = known.absences
  applyAbsences(counting.memory, known.absences)
}

/** To be called when a monitor in memory was read from the database again. */
export function markReloaded(
  { memory, absences, coverage }: CountingState,
  monitorId: string,
  monotonicMs: number,
): void {
  applyAbsences(memory, absences, [monitorId])
  coverage.reloadedMs.set(monitorId, monotonicMs)
}

/**
 * If JetStream's clock was set, moves all remembered times with it before the next result counts. Returns the step in
 * ms; 0 without a step.
 */
export function applyClockStep(counting: CountingState, takenAtMs: number, monotonicMs: number, logMs: number): number {
  const { memory, unstored, streamClock } = counting
  const stepMs = detectClockStep(streamClock, takenAtMs, monotonicMs, logMs)
  if (stepMs === 0 || !counting.isCounting) return 0
  for (const id of [...unstored.keys(), ...shiftAllTimes(memory, stepMs)]) unstored.set(id, LONG_AGO)
  counting.steppedMs = monotonicMs
  counting.absences = shiftAbsences(counting.absences, stepMs)
  applyAbsences(memory, counting.absences)
  return stepMs
}

/** The newest epoch of a batch if it is higher than the current one of its region; otherwise null. */
export function findEpochAhead({ liveSets }: CountingTools, { region, results }: ResultBatch): number | null {
  const epoch = findNewestEpoch(results)
  return epoch > (liveSets.of(region)?.epoch ?? 0) ? epoch : null
}

/** Counts the results of a message. Results that were counted before a restart only rebuild what is not stored. */
export function countBatch(
  counting: CountingState,
  tools: CountingTools,
  effects: BatchEffects,
  message: { sequence: number; takenAtMs: number },
  batch: ResultBatch,
  monotonicMs: number,
): void {
  const { memory, unstored, mark } = counting
  const { sequence, takenAtMs } = message
  const isReplay = isAlreadyCounted(counting.start, message)
  // reading starts at a time, so the last results that the checkpoint contains are read again
  if (isReplay && mark && sequence <= mark.sequence && takenAtMs <= mark.takenAtMs) return
  if (!isReplay && !counting.isCounting) {
    for (const id of startCountingAt(memory, takenAtMs, counting.position.takenAtMs)) unstored.set(id, LONG_AGO)
    counting.isCounting = true
  }
  if (isReplay) effects.replayed += batch.results.length
  else {
    selectRegionCounts(effects, batch.region)
    // the fleet publishes the check of a witness
    if (batch.results[0]?.trigger !== Trigger.WITNESS) tools.regionCoverage.receivedMs.set(batch.region, monotonicMs)
  }
  const tolerance = computeTolerance(counting.streamClock, takenAtMs, monotonicMs)
  const live = tools.liveSets.of(batch.region)
  const spans = live?.spans.get(batch.probeId)
  for (const result of batch.results) {
    const refusal = findRefusal(live, spans, result.epoch)
    if (refusal !== null) {
      if (!isReplay) effects.counts[refusal]++
      continue
    }
    try {
      const counted = toVerdictResult(batch, result)
      if (isReplay) replayResult(memory, unstored, result.monitorId, counted, takenAtMs)
      else {
        if (counted.isDoubted) countDoubted(effects, batch.region)
        countResult(memory, effects, result.monitorId, counted, takenAtMs, tolerance, tools.parents)
        const tracked = memory.get(result.monitorId)
        if (tracked) {
          const seenFrom = { region: batch.region, regions: tracked.policy?.regions ?? [] }
          recordCertificate(counting.certificates, effects.certificates, seenFrom, result, takenAtMs)
        }
      }
    } catch (err) {
      tools.setAside('result', 'set aside an invalid result', { err, monitorId: result.monitorId, sequence })
    }
  }
}

/** Adds the states that have waited long enough to the changes, a few at a time. */
export function addWaitingChanges({ memory, unstored, position }: CountingState, effects: BatchEffects): void {
  for (const [id, sinceMs] of effects.unstored) if (!unstored.has(id)) unstored.set(id, sinceMs)
  if (position.takenAtMs === null) return
  addOverdueChanges(memory, effects, unstored, {
    nowMs: position.takenAtMs,
    ageMs: MAX_UNSTORED_MS,
    limit: LATE_STORES_PER_BATCH,
  })
}

/** Marks the state of a monitor in memory as not stored. */
export function markUnstored({ unstored, position }: CountingState, monitorId: string): void {
  if (!unstored.has(monitorId)) unstored.set(monitorId, position.takenAtMs ?? LONG_AGO)
}

/** To be called after a commit. Reverts the changes that were discarded; these monitors have to be read again. */
export function markCommitted(counting: CountingState, effects: BatchEffects, discarded: readonly string[]): void {
  const discardedIds = new Set(discarded)
  for (const monitorId of effects.changes.keys()) {
    const isWaiting = counting.unstored.delete(monitorId)
    // after the others, so that a change that is discarded repeatedly does not delay them
    if (isWaiting && discardedIds.has(monitorId)) markUnstored(counting, monitorId)
  }
  revertChanges(counting.memory, effects, discarded)
}
