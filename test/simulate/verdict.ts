import { formatExplanation } from '../../control-plane/verdict/core/explanation-text.ts'
import type { StatusTransition } from '../../control-plane/verdict/core/types.ts'
import { buildHints } from '../../control-plane/verdict/reader/commit/hints.ts'
import { type BatchEffects, createBatchEffects } from '../../control-plane/verdict/reader/counting/batch-effects.ts'
import {
  addWaitingChanges,
  applyClockStep,
  type CountingTools,
  countBatch,
  findEpochAhead,
  markCommitted,
  markReloaded,
  startCounting,
  updateRegionAbsences,
} from '../../control-plane/verdict/reader/counting/counting-state.ts'
import { decodeBatch } from '../../control-plane/verdict/reader/counting/decode.ts'
import {
  loadMonitor,
  needsReload,
  type TrackedMonitors,
} from '../../control-plane/verdict/reader/counting/tracked-monitors.ts'
import { isAlreadyCounted } from '../../control-plane/verdict/reader/partitions/start-position.ts'
import { followDatabaseClock, sendOrWithhold } from './alerts.ts'
import type { Database } from './database.ts'
import type { Hints } from './hints.ts'
import type { JetStream } from './jetstream.ts'
import type { KnownEpochs } from './known-epochs.ts'
import { type Checkpoint, copyCheckpointStates, copyMonitorRow } from './stored.ts'
import type { Host } from './time.ts'
import { startUncheckedScan } from './unchecked.ts'

/** A committed status change. `to` null: the status was cleared, because no check counts. Times in ms since the beginning. */
type StatusCommit = {
  monitorId: string
  atMs: number
  from: string | null
  to: string | null
  quorum: string
  /** the regions that the sentence of a change to `degraded` names */
  named: readonly string[]
  sequence: number
  /** JetStream time of the result that decided, or of the last check that counted */
  takenAtMs: number
}

export type VerdictParts = {
  host: Host
  database: Database
  stream: JetStream
  hints: Hints
  known: KnownEpochs
  shared: PersistentState
}

/** The state that a process leaves behind: the checkpoint and the commits. */
export type PersistentState = {
  checkpoint: Checkpoint | null
  onCommit: (committed: StatusCommit) => void
  /** number of results by outcome of the count */
  kinds: Record<string, number>
}

/** The reading of the stream by the process that owns the partition. */
export type PartitionReading = {
  /** Counts the new messages. */
  read: () => void
  markStale: (ids: readonly string[]) => void
  /** Stores a checkpoint, as a process does when it is stopped. */
  save: () => void
}

const SAVE_EVERY_MS = 5_000
const RETRY_FIRST_MS = 250
const RETRY_LAST_MS = 5_000

/** Reads the stream from the stored position, like `startReading` and `countMessages`. Throws while PostgreSQL is unavailable. */
export function startReading(parts: VerdictParts): PartitionReading {
  const { host, database, stream, hints, known, shared } = parts
  const { machine } = host
  const now = followDatabaseClock(host, database)
  const memory: TrackedMonitors = new Map()
  const stale = new Set<string>()
  const { sequence, atMs, streamCreated } = database.position()
  for (const row of database.monitors().values())
    loadMonitor(memory, row.id, copyMonitorRow(row), { lookedForVersion: row.configVersion, isDiscarded: false })
  const partition = { id: 0, epoch: 1, position: sequence, positionAtMs: atMs, streamCreated }
  const tools: CountingTools = {
    parents: new Set(),
    liveSets: known,
    regionCoverage: known.coverage,
    setAside(_what, _message, { err }) {
      throw err
    },
  }
  const counting = startCounting(memory, partition, {
    stream: stream.state(),
    foundAtMs: stream.get(sequence)?.takenAtMs ?? null,
    checkpoint: shared.checkpoint && { ...shared.checkpoint, marked: copyCheckpointStates(shared.checkpoint) },
    absences: known.absences().absences,
    monotonicMs: machine.monotonicMs(),
    logMs: hints.logNowMs(),
  })
  const { unstored, start } = counting
  let next = 'sequence' in start.from ? start.from.sequence : stream.sequenceAt(start.from.timeMs)
  let savedMs = machine.monotonicMs()
  let checkpointDueMs = 0
  let isWaiting = false

  /** Retries a step while PostgreSQL is unavailable, and then continues to read. */
  function retryUntilDone(step: () => void, pauseMs = RETRY_FIRST_MS): boolean {
    try {
      step()
      return true
    } catch (error) {
      if (!database.isUnavailable()) throw error
      isWaiting = true
      machine.after(pauseMs, () => {
        isWaiting = false
        if (retryUntilDone(step, Math.min(2 * pauseMs, RETRY_LAST_MS))) read()
      })
      return false
    }
  }

  function read(): void {
    if (isWaiting || !host.isRunning()) return
    const messages = stream.from(next)
    if (messages.length === 0) return
    updateRegionAbsences(counting, known.absences())
    if (stale.size > 0) {
      const ids = [...stale]
      if (!retryUntilDone(() => reload(ids))) return
      for (const id of ids) stale.delete(id)
    }
    let effects = createBatchEffects()
    for (const message of messages) {
      applyClockStep(counting, message.takenAtMs, machine.monotonicMs(), hints.logNowMs())
      const batch = decodeBatch(message.subject, message.data)
      const versions = batch.results.filter(result => needsReload(memory, result))
      const ahead = findEpochAhead(tools, batch)
      if (versions.length > 0 || ahead !== null) {
        if (!store(effects)) return
        effects = createBatchEffects()
        if (ahead !== null) {
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
        if (!retryUntilDone(() => reloadMonitors(versions))) return
      }
      countBatch(counting, tools, effects, message, batch, machine.monotonicMs())
      if (!isAlreadyCounted(start, message))
        counting.position = { sequence: message.sequence, takenAtMs: message.takenAtMs }
      next = message.sequence + 1
    }
    if (!store(effects)) return
    if (machine.monotonicMs() - savedMs >= SAVE_EVERY_MS && !retryUntilDone(savePosition)) return
    saveCheckpoint()
  }

  /** Like `commitEffects`: commits the changes together with the position, then publishes the hints. */
  function store(effects: BatchEffects): boolean {
    addWaitingChanges(counting, effects)
    const finish = () => {
      for (const hint of buildHints(effects, hints.createId, hints.logNowMs())) hints.publish(hint)
      for (const kinds of effects.countsByRegion.values())
        for (const [kind, count] of Object.entries(kinds)) shared.kinds[kind] = (shared.kinds[kind] ?? 0) + count
    }
    if (effects.changes.size === 0) {
      finish()
      return true
    }
    return retryUntilDone(() => {
      const rows = database.monitors()
      const discarded: string[] = []
      savePosition()
      for (const { monitorId, configVersion, transitions } of effects.changes.values()) {
        const row = rows.get(monitorId)
        if (!row || row.isPaused || row.configVersion > configVersion) {
          discarded.push(monitorId)
          continue
        }
        database.storeState(monitorId, memory.get(monitorId)!.state)
        for (const transition of transitions) {
          const { from, to, quorum, atMs: takenAtMs } = transition
          database.storeStatus(monitorId, to)
          sendOrWithhold(database, row, transition, { now: now(), atMs: machine.monotonicMs() })
          shared.onCommit({
            monitorId,
            atMs: machine.monotonicMs(),
            from,
            to,
            quorum,
            named: listNamedRegions(row.settings.regions, transition),
            sequence: counting.position.sequence,
            takenAtMs,
          })
        }
      }
      markCommitted(counting, effects, discarded)
      reload(discarded)
      finish()
    })
  }

  const reload = (ids: readonly string[]) => reloadMonitors(ids.map(monitorId => ({ monitorId, configVersion: 0 })))

  function reloadMonitors(results: readonly { monitorId: string; configVersion: number }[]): void {
    for (const { monitorId, configVersion } of results) {
      const row = database.monitor(monitorId)
      const lookedForVersion = Math.max(configVersion, row?.configVersion ?? 0)
      loadMonitor(memory, monitorId, row ? copyMonitorRow(row) : null, { lookedForVersion, isDiscarded: false })
      markReloaded(counting, monitorId, machine.monotonicMs())
    }
  }

  function savePosition(): void {
    const { sequence, takenAtMs } = counting.position
    database.storePosition({ sequence, atMs: takenAtMs, streamCreated: stream.state().created })
    savedMs = machine.monotonicMs()
  }

  function saveCheckpoint(isLast = false): void {
    const { isCounting, position } = counting
    if (!isCounting || position.takenAtMs === null || database.isUnavailable()) return
    if (!isLast && machine.monotonicMs() < checkpointDueMs) return
    savePosition()
    const states = [...memory.values()]
      .filter(({ policy }) => policy !== null)
      .map(({ state }): Checkpoint['states'][number] => [state.monitorId, state, unstored.has(state.monitorId)])
    const { created } = stream.state()
    shared.checkpoint = { streamCreated: created, sequence: position.sequence, takenAtMs: position.takenAtMs, states }
    checkpointDueMs = machine.monotonicMs() + SAVE_EVERY_MS
  }

  startUncheckedScan(parts, counting, () => isWaiting)
  return {
    read,
    markStale: ids => {
      for (const id of ids) stale.add(id)
    },
    save() {
      if (!isWaiting) saveCheckpoint(true)
    },
  }
}

function listNamedRegions(regions: readonly string[], { to, explanation }: StatusTransition): string[] {
  if (to !== 'degraded') return []
  const sentence = formatExplanation(explanation)
  return regions.filter(region => sentence.includes(region))
}
