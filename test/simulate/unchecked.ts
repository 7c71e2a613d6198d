import type { MonitorState } from '../../control-plane/verdict/core/types.ts'
import { buildHints } from '../../control-plane/verdict/reader/commit/hints.ts'
import type { CountingState } from '../../control-plane/verdict/reader/counting/counting-state.ts'
import {
  findUncheckedMonitors,
  recordRound,
  toRegionStates,
} from '../../control-plane/verdict/reader/unchecked/unchecked.ts'
import type { VerdictParts } from './verdict.ts'

const SCAN_EVERY_MS = 5_000
const MAX_PER_SCAN = 200

/** Clears the status of monitors that no probe checks every few seconds, like `clearUncheckedStatuses`. */
export function startUncheckedScan(
  { host, database, stream, hints, known, shared }: VerdictParts,
  { memory, unstored, coverage, streamClock }: CountingState,
  isWaiting: () => boolean,
): void {
  const { machine } = host

  function scan(): void {
    if (isWaiting() || database.isUnavailable()) return
    const nowMs = machine.monotonicMs()
    recordRound(coverage, !stream.isUnavailable(), nowMs)
    if (coverage.completeSinceMs === null) return
    coverage.scannedMs = nowMs
    const found = findUncheckedMonitors(
      memory,
      { coverage, regionCoverage: known.coverage, monotonicMs: nowMs, logMs: nowMs + streamClock.offsetMs },
      MAX_PER_SCAN,
    )
    const states: MonitorState[] = []
    for (const { monitorId, configVersion, state } of found) {
      const row = database.monitor(monitorId)
      if (!row || row.isPaused || row.configVersion !== configVersion) continue
      const stored = { ...state, unchecked: { ...state.unchecked!, isTold: true } }
      database.storeState(monitorId, stored)
      if (row.status !== null)
        shared.onCommit({
          monitorId,
          atMs: nowMs,
          from: row.status,
          to: null,
          quorum: '',
          named: [],
          sequence: stream.state().lastSequence,
          takenAtMs: state.unchecked!.sinceMs,
        })
      database.storeStatus(monitorId, null)
      memory.get(monitorId)!.state = stored
      unstored.delete(monitorId)
      states.push(stored)
    }
    const input = { regionStates: toRegionStates(states), asks: [] }
    for (const hint of buildHints(input, hints.createId, hints.logNowMs())) hints.publish(hint)
  }
  machine.every(SCAN_EVERY_MS, scan)
}
