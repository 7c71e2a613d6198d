import { type ResultBatch, Trigger } from '../../shared/result.ts'
import type { Absences } from '../verdict/types.ts'
import { afterStep, heedAbsences, isByNewClock, type KnownAbsences } from './absences.ts'
import { type KnownCertificates, noteCertificate } from './certificates.ts'
import { applyCheckpoint, type Marked } from './checkpoint.ts'
import { toCounted } from './decode.ts'
import { newestEpoch, type RegionLive, refusalOf } from './live-sets.ts'
import { type LogTime, newLogTime, stepBefore, toleranceOf } from './log-time.ts'
import {
  addOverdue,
  beginAt,
  countDoubted,
  countRegion,
  countResult,
  type Harvest,
  longestVoteOf,
  type Memory,
  recallResult,
  restoreAll,
  stepAll,
  takeBack,
  type Unstored,
} from './memory.ts'
import type { RegionSight } from './region-sight.ts'
import { isCounted, type Mark, type Start, type StreamState, startOf } from './start-position.ts'
import type { OwnedPartition } from './store.ts'
import { newSight, type Sight } from './unchecked.ts'

/** What results are counted with; all of a process share it. */
export type CountingTools = {
  /** monitors that others depend on, as far as this process knows */
  parents: ReadonlySet<string>
  /** whose results count */
  liveSets: { of(region: string): RegionLive | undefined }
  /** whether the silence of a region is explained */
  regionSight: RegionSight
  /** Reports what cannot be used; its neighbours count. */
  setAside: (what: string, message: string, details: { err: unknown; [name: string]: unknown }) => void
}

/** What one reading of a partition has in memory. */
export type Counting = {
  memory: Memory
  certificates: KnownCertificates
  start: Start
  /** where the checkpoint was made that memory began with; null without one */
  mark: Pick<Mark, 'sequence' | 'takenAtMs'> | null
  logTime: LogTime
  /** up to where results are counted */
  position: { sequence: number; takenAtMs: number | null }
  /** what is in memory and in checkpoints only */
  unstored: Unstored
  /** the regions without a probe that the policies in memory know of, and when JetStream's clock was seen to be set last */
  absences: Absences
  steppedMs: number
  /** whether this reader has seen everything lately */
  sight: Sight
  /** the first message that was not counted before has come */
  isCounting: boolean
}

/** As the time since when a state waits for its storing: with the next results. */
const LONG_AGO = 0

/**
 * How long what decides nothing may be in memory and in checkpoints only: half of what is read again after a restart.
 * So a region that fails for all of its monitors costs no write while they fail, and later one a monitor, a few at a time.
 */
const UNSTORED_MS = 60_000
const STORED_LATER_AT_ONCE = 200

/** What is known where reading begins. `foundAtMs`: when the message at the stored position was taken; null: it is gone. */
type Found = {
  stream: StreamState
  foundAtMs: number | null
  checkpoint: (Mark & { marked: Marked }) | null
  absences: Absences
  monotonicMs: number
  logMs: number
}

/** Begins with the monitors as they are stored, and with the checkpoint where it can be used. */
export function beginCounting(
  memory: Memory,
  partition: OwnedPartition,
  { stream, foundAtMs, checkpoint, absences, monotonicMs, logMs }: Found,
): Counting {
  const start = startOf(partition, stream, { mark: checkpoint, foundAtMs, voteMs: longestVoteOf(memory) })
  const mark = start.isMarked ? checkpoint : null
  const unstored: Unstored = new Map()
  if (mark) for (const id of applyCheckpoint(memory, mark.marked)) unstored.set(id, LONG_AGO)
  restoreAll(memory, start.knownFromMs)
  heedAbsences(memory, absences)
  return {
    ...{ memory, start, unstored, absences },
    mark: mark && { sequence: mark.sequence, takenAtMs: mark.takenAtMs },
    certificates: new Map(),
    logTime: newLogTime(logMs, monotonicMs),
    position: { sequence: start.position, takenAtMs: start.positionAtMs },
    steppedMs: Number.NEGATIVE_INFINITY,
    sight: newSight(),
    isCounting: false,
  }
}

/** Which regions have no probe, as of the newest reading. */
export function followAbsences(counting: Counting, known: KnownAbsences): void {
  if (known.absences === counting.absences || !isByNewClock(known, counting.steppedMs)) return
  counting.absences = known.absences
  heedAbsences(counting.memory, known.absences)
}

/** A monitor in memory was read from the database again. */
export function noteReadAgain({ memory, absences, sight }: Counting, monitorId: string, monotonicMs: number): void {
  heedAbsences(memory, absences, [monitorId])
  sight.touchedMs.set(monitorId, monotonicMs)
}

/**
 * Where JetStream's clock was set, what is remembered moves with it before the next result counts. Answers by how much it was
 * moved; 0: it was not.
 */
export function followClock(counting: Counting, takenAtMs: number, monotonicMs: number, logMs: number): number {
  const { memory, unstored, logTime } = counting
  const stepMs = stepBefore(logTime, takenAtMs, monotonicMs, logMs)
  if (stepMs === 0 || !counting.isCounting) return 0
  for (const id of [...unstored.keys(), ...stepAll(memory, stepMs)]) unstored.set(id, LONG_AGO)
  counting.steppedMs = monotonicMs
  counting.absences = afterStep(counting.absences, stepMs)
  heedAbsences(memory, counting.absences)
  return stepMs
}

/** The newest epoch of a batch when it is higher than the one that is known to be in force; else null. */
export function epochAhead({ liveSets }: CountingTools, { region, results }: ResultBatch): number | null {
  const epoch = newestEpoch(results)
  return epoch > (liveSets.of(region)?.epoch ?? 0) ? epoch : null
}

/** Counts the results of a message; those that were counted before a restart only move what is not stored. */
export function countBatch(
  counting: Counting,
  tools: CountingTools,
  harvest: Harvest,
  message: { sequence: number; takenAtMs: number },
  batch: ResultBatch,
  monotonicMs: number,
): void {
  const { memory, unstored, mark } = counting
  const { sequence, takenAtMs } = message
  const isRecall = isCounted(counting.start, message)
  // reading goes on by time, so the last ones that the checkpoint knows come again
  if (isRecall && mark && sequence <= mark.sequence && takenAtMs <= mark.takenAtMs) return
  if (!isRecall && !counting.isCounting) {
    for (const id of beginAt(memory, takenAtMs, counting.position.takenAtMs)) unstored.set(id, LONG_AGO)
    counting.isCounting = true
  }
  if (isRecall) harvest.recalled += batch.results.length
  else {
    countRegion(harvest, batch.region)
    // the check of a witness is published by the fleet
    if (batch.results[0]?.trigger !== Trigger.WITNESS) tools.regionSight.heardMs.set(batch.region, monotonicMs)
  }
  const tolerance = toleranceOf(counting.logTime, takenAtMs, monotonicMs)
  const live = tools.liveSets.of(batch.region)
  const spans = live?.spans.get(batch.probeId)
  for (const result of batch.results) {
    const refusal = refusalOf(live, spans, result.epoch)
    if (refusal !== null) {
      if (!isRecall) harvest.kinds[refusal]++
      continue
    }
    try {
      const counted = toCounted(batch, result)
      if (isRecall) recallResult(memory, unstored, result.monitorId, counted, takenAtMs)
      else {
        if (counted.isDoubted) countDoubted(harvest, batch.region)
        countResult(memory, harvest, result.monitorId, counted, takenAtMs, tolerance, tools.parents)
        if (memory.has(result.monitorId))
          noteCertificate(counting.certificates, harvest.certificates, batch.region, result, takenAtMs)
      }
    } catch (err) {
      tools.setAside('result', 'a result was set aside', { err, monitorId: result.monitorId, sequence })
    }
  }
}

/** Adds to a harvest what has waited long enough for its storing, a few at a time. */
export function addWaiting({ memory, unstored, position }: Counting, harvest: Harvest): void {
  for (const [id, sinceMs] of harvest.unstored) if (!unstored.has(id)) unstored.set(id, sinceMs)
  if (position.takenAtMs === null) return
  addOverdue(memory, harvest, unstored, { nowMs: position.takenAtMs, ageMs: UNSTORED_MS, limit: STORED_LATER_AT_ONCE })
}

/** The state of a monitor is not stored as it is in memory. */
export function noteUnstored({ unstored, position }: Counting, monitorId: string): void {
  if (!unstored.has(monitorId)) unstored.set(monitorId, position.takenAtMs ?? LONG_AGO)
}

/** The changes of a harvest are committed, but for those that were discarded: these monitors have to be read again. */
export function noteJudged(counting: Counting, harvest: Harvest, discarded: readonly string[]): void {
  const taken = new Set(discarded)
  for (const monitorId of harvest.changes.keys()) {
    const isWaiting = counting.unstored.delete(monitorId)
    // behind the others, so that what is refused again and again does not hold them up
    if (isWaiting && taken.has(monitorId)) noteUnstored(counting, monitorId)
  }
  takeBack(counting.memory, harvest, discarded)
}
