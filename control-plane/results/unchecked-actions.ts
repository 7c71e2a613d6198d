import { monotonicMs, now } from '../platform/clock.ts'
import { logNowMs } from '../platform/nats.ts'
import { storeUnchecked } from '../verdict/unchecked-actions.ts'
import { movePosition, noteSaved, persistently, type Reading } from './actions.ts'
import { findUnchecked, noteRound } from './unchecked.ts'

const LOOK_EVERY_MS = 5_000
const AT_ONCE = 200
/** A reader that is further behind does not know what was published lately. */
const BEHIND_MS = 10_000
/** The server says at least every 2 s that it has nothing. */
const HEARD_WITHIN_MS = 6_000
const LOCK_MS = 100

/**
 * Takes the status from monitors that no probe checks (decision 196). To be called when everything that was counted is
 * stored. `silentMs`: for how long the server had said nothing when the newest
 * messages were taken; `isAll`: there were no more.
 */
export async function heedUnchecked(reading: Reading, silentMs: number, isAll: boolean): Promise<void> {
  const { tools, memory, sight, position, deferred, unstored } = reading
  const nowMs = monotonicMs()
  const logMs = logNowMs(tools.nats)
  const isRecent = isAll || (position.takenAtMs !== null && logMs - position.takenAtMs < BEHIND_MS)
  noteRound(sight, silentMs < HEARD_WITHIN_MS && isRecent, nowMs)
  if (nowMs - sight.lookedMs < LOOK_EVERY_MS || sight.soundSinceMs === null) return
  sight.lookedMs = nowMs
  const { explainedSinceMs } = tools.regionSight
  const look = { sight, explainedSinceMs, monotonicMs: nowMs, logMs }
  const found = findUnchecked(memory, look, AT_ONCE).filter(({ monitorId }) => !deferred.has(monitorId))
  if (found.length === 0) return
  const states = await persistently(reading, () =>
    tools.db.transaction(async tx => {
      await movePosition(tx, reading, LOCK_MS)
      return storeUnchecked(tx, found, tools.publicUrl, now())
    }),
  )
  noteSaved(reading)
  for (const state of states) {
    memory.get(state.monitorId)!.state = state
    unstored.delete(state.monitorId)
  }
  // the rest at once
  if (states.length >= AT_ONCE) sight.lookedMs = Number.NEGATIVE_INFINITY
  tools.meters.unchecked.inc(states.filter(({ unchecked }) => unchecked!.isTold).length)
}
