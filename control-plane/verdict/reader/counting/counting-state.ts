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
import { type KnownCertificates, recordCertificate } from './certificates.ts'
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

/** What results are counted with; all of a process share it. */
export type CountingTools = {
  /** monitors that others depend on, as far as this process knows */
  parents: ReadonlySet<string>
  /** whose results count */
  liveSets: { of(region: string): RegionLiveSet | undefined }
  /** whether the silence of a region is explained */
  regionCoverage: RegionCoverage
  /** Reports what cannot be used; its neighbours count. */
  setAside: (what: string, message: string, details: { err: unknown; [name: string]: unknown }) => void
}

/** What one reading of a partition has in memory. */
export type CountingState = {
  memory: TrackedMonitors
  certificates: KnownCertificates
  start: StartPosition
  /** where the checkpoint was made that memory began with; null without one */
  mark: Pick<CheckpointPosition, 'sequence' | 'takenAtMs'> | null
  streamClock: StreamClock
  /** up to where results are counted */
  position: { sequence: number; takenAtMs: number | null }
  /** what is in memory and in checkpoints only */
  unstored: UnstoredMonitors
  /** the regions without a probe that the policies in memory know of, and when JetStream's clock was seen to be set last */
  absences: RegionAbsences
  steppedMs: number
  /** whether this reader has seen everything lately */
  coverage: ReaderCoverage
  /** the first message that was not counted before has come */
  isCounting: boolean
}

/** As the time since when a state waits for its storing: with the next results. */
const LONG_AGO = 0

/**
 * How long what decides nothing may be in memory and in checkpoints only: half of what is read again after a restart.
 * So a region that fails for all of its monitors costs no write while they fail, and later one a monitor, a few at a time.
 */
const MAX_UNSTORED_MS = 60_000
const LATE_STORES_PER_BATCH = 200

/** What is known where reading begins. `foundAtMs`: when the message at the stored position was discardedIds; null: it is gone. */
type ReadingStart = {
  stream: StreamBounds
  foundAtMs: number | null
  checkpoint: (CheckpointPosition & { marked: CheckpointContents }) | null
  absences: RegionAbsences
  monotonicMs: number
  logMs: number
}

/** Begins with the monitors as they are stored, and with the checkpoint where it can be used. */
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
    certificates: new Map(),
    streamClock: createStreamClock(logMs, monotonicMs),
    position: { sequence: start.position, takenAtMs: start.positionAtMs },
    steppedMs: Number.NEGATIVE_INFINITY,
    coverage: createReaderCoverage(),
    isCounting: false,
  }
}

/** Which regions have no probe, as of the newest reading. */
export function updateRegionAbsences(counting: CountingState, known: KnownAbsences): void {
  if (known.absences === counting.absences || !isReadAfterStep(known, counting.steppedMs)) return
  counting.absences = known.absences
  applyAbsences(counting.memory, known.absences)
}

/** A monitor in memory was read from the database again. */
export function markReloaded(
  { memory, absences, coverage }: CountingState,
  monitorId: string,
  monotonicMs: number,
): void {
  applyAbsences(memory, absences, [monitorId])
  coverage.reloadedMs.set(monitorId, monotonicMs)
}

/**
 * Where JetStream's clock was set, what is remembered moves with it before the next result counts. Answers by how much it was
 * moved; 0: it was not.
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

/** The newest epoch of a batch when it is higher than the one that is known to be in force; else null. */
export function findEpochAhead({ liveSets }: CountingTools, { region, results }: ResultBatch): number | null {
  const epoch = findNewestEpoch(results)
  return epoch > (liveSets.of(region)?.epoch ?? 0) ? epoch : null
}

/** Counts the results of a message; those that were counted before a restart only move what is not stored. */
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
  // reading goes on by time, so the last ones that the checkpoint knows come again
  if (isReplay && mark && sequence <= mark.sequence && takenAtMs <= mark.takenAtMs) return
  if (!isReplay && !counting.isCounting) {
    for (const id of startCountingAt(memory, takenAtMs, counting.position.takenAtMs)) unstored.set(id, LONG_AGO)
    counting.isCounting = true
  }
  if (isReplay) effects.replayed += batch.results.length
  else {
    selectRegionCounts(effects, batch.region)
    // the check of a witness is published by the fleet
    if (batch.results[0]?.trigger !== Trigger.WITNESS) tools.regionCoverage.heardMs.set(batch.region, monotonicMs)
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
        if (memory.has(result.monitorId))
          recordCertificate(counting.certificates, effects.certificates, batch.region, result, takenAtMs)
      }
    } catch (err) {
      tools.setAside('result', 'a result was set aside', { err, monitorId: result.monitorId, sequence })
    }
  }
}

/** Adds to a effects what has waited long enough for its storing, a few at a time. */
export function addWaitingChanges({ memory, unstored, position }: CountingState, effects: BatchEffects): void {
  for (const [id, sinceMs] of effects.unstored) if (!unstored.has(id)) unstored.set(id, sinceMs)
  if (position.takenAtMs === null) return
  addOverdueChanges(memory, effects, unstored, {
    nowMs: position.takenAtMs,
    ageMs: MAX_UNSTORED_MS,
    limit: LATE_STORES_PER_BATCH,
  })
}

/** The state of a monitor is not stored as it is in memory. */
export function markUnstored({ unstored, position }: CountingState, monitorId: string): void {
  if (!unstored.has(monitorId)) unstored.set(monitorId, position.takenAtMs ?? LONG_AGO)
}

/** The changes of a effects are committed, but for those that were discarded: these monitors have to be read again. */
export function markCommitted(counting: CountingState, effects: BatchEffects, discarded: readonly string[]): void {
  const discardedIds = new Set(discarded)
  for (const monitorId of effects.changes.keys()) {
    const isWaiting = counting.unstored.delete(monitorId)
    // behind the others, so that what is refused again and again does not hold them up
    if (isWaiting && discardedIds.has(monitorId)) markUnstored(counting, monitorId)
  }
  revertChanges(counting.memory, effects, discarded)
}
