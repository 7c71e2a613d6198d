import { afterStep, heedAbsences, isByNewClock } from '../../control-plane/results/absences.ts'
import { applyCheckpoint } from '../../control-plane/results/checkpoint.ts'
import { decodeBatch, toCounted } from '../../control-plane/results/decode.ts'
import { hintsOf } from '../../control-plane/results/hints.ts'
import { newestEpoch, refusalOf } from '../../control-plane/results/live-sets.ts'
import { newLogTime, stepBefore, toleranceOf } from '../../control-plane/results/log-time.ts'
import {
  addOverdue,
  beginAt,
  countResult,
  type Harvest,
  longestVoteOf,
  type Memory,
  needsLook,
  newHarvest,
  recallResult,
  restoreAll,
  stepAll,
  takeBack,
  takeUp,
  type Unstored,
} from '../../control-plane/results/memory.ts'
import { isCounted, type Start, startOf } from '../../control-plane/results/start-position.ts'
import { newSight } from '../../control-plane/results/unchecked.ts'
import { type ResultBatch, Trigger } from '../../shared/result.ts'
import type { Database } from './database.ts'
import type { Hints } from './hints.ts'
import type { JetStream, Message } from './jetstream.ts'
import type { KnownEpochs } from './known-epochs.ts'
import { type Checkpoint, copyOf, markedOf } from './stored.ts'
import type { Host } from './time.ts'
import { heedUnchecked } from './unchecked.ts'

/** A status that changed, as it was committed; `to` null: it was taken away, because no check counts. ms since the beginning. */
export type Committed = {
  monitorId: string
  atMs: number
  from: string | null
  to: string | null
  quorum: string
  sequence: number
}

export type VerdictParts = {
  host: Host
  database: Database
  stream: JetStream
  hints: Hints
  known: KnownEpochs
  shared: Shared
}

/** What outlives a process: the checkpoint, and the record of what was committed. */
export type Shared = {
  checkpoint: Checkpoint | null
  onCommit: (committed: Committed) => void
  /** results by what became of them */
  kinds: Record<string, number>
}

/** One reading of the stream, by the process that owns it. */
export type Reading = {
  /** Counts what has come. */
  read: () => void
  markStale: (ids: readonly string[]) => void
  /** Stores what was counted, as a process does that ends in order. */
  save: () => void
  isBlocked: () => boolean
}

const SAVE_EVERY_MS = 5_000
const UNSTORED_MS = 60_000
const STORED_LATER_AT_ONCE = 200
const LONG_AGO = 0
const RETRY_FIRST_MS = 250
const RETRY_LAST_MS = 5_000

/** Reads the stream from the stored position, as `beginReading` and `countMessages` do. Throws while PostgreSQL is away. */
export function beginReading(parts: VerdictParts): Reading {
  const { host, database, stream, hints, known, shared } = parts
  const { machine } = host
  const memory: Memory = new Map()
  const unstored: Unstored = new Map()
  const stale = new Set<string>()
  const { sequence, atMs, streamCreated } = database.position()
  for (const row of database.monitors().values())
    takeUp(memory, row.id, copyOf(row), { lookedForVersion: row.configVersion, isDiscarded: false })
  const partition = { id: 0, epoch: 1, position: sequence, positionAtMs: atMs, streamCreated }
  const foundAtMs = stream.get(sequence)?.takenAtMs ?? null
  const mark = shared.checkpoint
  const start: Start = startOf(partition, stream.state(), { mark, foundAtMs, voteMs: longestVoteOf(memory) })
  if (mark && start.isMarked) for (const id of applyCheckpoint(memory, markedOf(mark))) unstored.set(id, LONG_AGO)
  restoreAll(memory, start.knownFromMs)
  const usedMark = start.isMarked ? mark : null
  const logTime = newLogTime(hints.logNowMs(), machine.monotonicMs())
  let position = { sequence: start.position, takenAtMs: start.positionAtMs }
  let next = 'sequence' in start.from ? start.from.sequence : stream.sequenceAt(start.from.timeMs)
  let savedMs = machine.monotonicMs()
  let checkpointDueMs = 0
  let isCounting = false
  let isWaiting = false
  let { absences } = known.absences()
  heedAbsences(memory, absences)
  let steppedMs = Number.NEGATIVE_INFINITY
  const sight = newSight()

  /** Repeats a step that PostgreSQL refuses, and continues to read after it. */
  function persistently(step: () => void, pauseMs = RETRY_FIRST_MS): boolean {
    try {
      step()
      return true
    } catch (error) {
      if (!database.isAway()) throw error
      isWaiting = true
      machine.after(pauseMs, () => {
        isWaiting = false
        if (persistently(step, Math.min(2 * pauseMs, RETRY_LAST_MS))) read()
      })
      return false
    }
  }

  function read(): void {
    if (isWaiting || !host.isRunning()) return
    const messages = stream.from(next)
    if (messages.length === 0) return
    followAbsences()
    if (stale.size > 0) {
      const ids = [...stale]
      if (!persistently(() => look(ids))) return
      for (const id of ids) stale.delete(id)
    }
    let harvest = newHarvest()
    for (const message of messages) {
      follow(message)
      const batch = decodeBatch(message.subject, message.data)
      const versions = batch.results.filter(result => needsLook(memory, result))
      const ahead = newestEpoch(batch.results)
      if (versions.length > 0 || ahead > known.epochOf(batch.region)) {
        if (!store(harvest)) return
        harvest = newHarvest()
        if (ahead > known.epochOf(batch.region)) {
          const waitMs = known.await(batch, ahead)
          if (waitMs > 0) {
            isWaiting = true
            machine.after(waitMs, () => {
              isWaiting = false
              read()
            })
            return
          }
        }
        if (!persistently(() => lookFor(versions))) return
      }
      countBatch(harvest, message, batch)
      if (!isCounted(start, message)) position = { sequence: message.sequence, takenAtMs: message.takenAtMs }
      next = message.sequence + 1
    }
    if (!store(harvest)) return
    if (machine.monotonicMs() - savedMs >= SAVE_EVERY_MS && !persistently(savePosition)) return
    keepCheckpoint()
  }

  /** Which regions have no probe, as of the newest reading. */
  function followAbsences(): void {
    const read = known.absences()
    if (read.absences === absences || !isByNewClock(read, steppedMs)) return
    absences = read.absences
    heedAbsences(memory, absences)
  }

  function follow({ takenAtMs }: Message): void {
    const stepMs = stepBefore(logTime, takenAtMs, machine.monotonicMs(), hints.logNowMs())
    if (stepMs === 0 || !isCounting) return
    for (const id of [...unstored.keys(), ...stepAll(memory, stepMs)]) unstored.set(id, LONG_AGO)
    steppedMs = machine.monotonicMs()
    absences = afterStep(absences, stepMs)
    heedAbsences(memory, absences)
  }

  function countBatch(harvest: Harvest, message: Message, batch: ResultBatch): void {
    const isRecall = isCounted(start, message)
    if (isRecall && usedMark && message.sequence <= usedMark.sequence && message.takenAtMs <= usedMark.takenAtMs) return
    if (!isRecall && !isCounting) {
      for (const id of beginAt(memory, message.takenAtMs, position.takenAtMs)) unstored.set(id, LONG_AGO)
      isCounting = true
    }
    // the check of a witness comes by way of the fleet
    if (!isRecall && batch.results[0]?.trigger !== Trigger.WITNESS)
      known.sight.heardMs.set(batch.region, machine.monotonicMs())
    const tolerance = toleranceOf(logTime, message.takenAtMs, machine.monotonicMs())
    const live = known.of(batch.region)
    const spans = live?.spans.get(batch.probeId)
    for (const result of batch.results) {
      const refusal = refusalOf(live, spans, result.epoch)
      if (refusal !== null) {
        if (!isRecall) harvest.kinds[refusal]++
        continue
      }
      const counted = toCounted(batch, result)
      if (isRecall) recallResult(memory, unstored, result.monitorId, counted, message.takenAtMs)
      else countResult(memory, harvest, result.monitorId, counted, message.takenAtMs, tolerance)
    }
  }

  /** As `storeHarvest` and `judge`: what changed is committed with the position, then the hints go out. */
  function store(harvest: Harvest): boolean {
    for (const [id, sinceMs] of harvest.unstored) if (!unstored.has(id)) unstored.set(id, sinceMs)
    if (position.takenAtMs !== null && unstored.size > 0)
      addOverdue(memory, harvest, unstored, {
        nowMs: position.takenAtMs,
        ageMs: UNSTORED_MS,
        limit: STORED_LATER_AT_ONCE,
      })
    const finish = () => {
      for (const hint of hintsOf(harvest, hints.newId, hints.logNowMs())) hints.publish(hint)
      for (const [kind, count] of Object.entries(harvest.kinds)) shared.kinds[kind] = (shared.kinds[kind] ?? 0) + count
    }
    if (harvest.changes.size === 0) {
      finish()
      return true
    }
    return persistently(() => {
      const rows = database.monitors()
      const discarded: string[] = []
      savePosition()
      for (const { monitorId, configVersion, transitions } of harvest.changes.values()) {
        const row = rows.get(monitorId)
        unstored.delete(monitorId)
        if (!row || row.isPaused || row.configVersion > configVersion) {
          discarded.push(monitorId)
          continue
        }
        database.storeState(monitorId, memory.get(monitorId)!.state)
        for (const { from, to, quorum } of transitions) {
          database.storeStatus(monitorId, to)
          shared.onCommit({ monitorId, atMs: machine.monotonicMs(), from, to, quorum, sequence: position.sequence })
        }
      }
      if (discarded.length > 0) {
        takeBack(memory, harvest, discarded)
        for (const id of discarded) unstored.set(id, position.takenAtMs ?? LONG_AGO)
        look(discarded)
      }
      finish()
    })
  }

  const look = (ids: readonly string[]) => lookFor(ids.map(monitorId => ({ monitorId, configVersion: 0 })))

  function lookFor(results: readonly { monitorId: string; configVersion: number }[]): void {
    for (const { monitorId, configVersion } of results) {
      const row = database.monitor(monitorId)
      const lookedForVersion = Math.max(configVersion, row?.configVersion ?? 0)
      takeUp(memory, monitorId, row ? copyOf(row) : null, { lookedForVersion, isDiscarded: false })
      touch(monitorId)
    }
  }

  function touch(id: string): void {
    heedAbsences(memory, absences, [id])
    sight.touchedMs.set(id, machine.monotonicMs())
  }

  function savePosition(): void {
    database.storePosition({
      sequence: position.sequence,
      atMs: position.takenAtMs,
      streamCreated: stream.state().created,
    })
    savedMs = machine.monotonicMs()
  }

  function keepCheckpoint(isLast = false): void {
    if (!isCounting || position.takenAtMs === null || database.isAway()) return
    if (!isLast && machine.monotonicMs() < checkpointDueMs) return
    savePosition()
    const states = [...memory.values()]
      .filter(({ policy }) => policy !== null)
      .map(({ state }): Checkpoint['states'][number] => [state.monitorId, state, unstored.has(state.monitorId)])
    const { created } = stream.state()
    shared.checkpoint = { streamCreated: created, sequence: position.sequence, takenAtMs: position.takenAtMs, states }
    checkpointDueMs = machine.monotonicMs() + SAVE_EVERY_MS
  }

  heedUnchecked(parts, { memory, unstored, sight, logTime, isWaiting: () => isWaiting })
  return {
    read,
    markStale: ids => {
      for (const id of ids) stale.add(id)
    },
    save() {
      if (!isWaiting) keepCheckpoint(true)
    },
    isBlocked: () => isWaiting,
  }
}
