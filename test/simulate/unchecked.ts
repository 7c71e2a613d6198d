import type { Counting } from '../../control-plane/results/counting.ts'
import { hintsOf } from '../../control-plane/results/hints.ts'
import { findUnchecked, noteRound, regionStatesOf } from '../../control-plane/results/unchecked.ts'
import type { MonitorState } from '../../control-plane/verdict/types.ts'
import type { VerdictParts } from './verdict.ts'

const LOOK_EVERY_MS = 5_000
const AT_ONCE = 200

/** Every few seconds takes the status from monitors that no probe checks, as `heedUnchecked` and `storeUnchecked`. */
export function heedUnchecked(
  { host, database, stream, hints, known, shared }: VerdictParts,
  { memory, unstored, sight, logTime }: Counting,
  isWaiting: () => boolean,
): void {
  const { machine } = host

  function look(): void {
    if (isWaiting() || database.isAway()) return
    const nowMs = machine.monotonicMs()
    noteRound(sight, !stream.isAway(), nowMs)
    if (sight.soundSinceMs === null) return
    sight.lookedMs = nowMs
    const { explainedSinceMs } = known.sight
    const found = findUnchecked(
      memory,
      { sight, explainedSinceMs, monotonicMs: nowMs, logMs: nowMs + logTime.offsetMs },
      AT_ONCE,
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
          sequence: stream.state().lastSequence,
        })
      database.storeStatus(monitorId, null)
      memory.get(monitorId)!.state = stored
      unstored.delete(monitorId)
      states.push(stored)
    }
    const news = { regionStates: regionStatesOf(states), asks: [] }
    for (const hint of hintsOf(news, hints.newId, hints.logNowMs())) hints.publish(hint)
  }
  machine.every(LOOK_EVERY_MS, look)
}
