import { monotonicMs, now } from '../platform/clock.ts'
import { type Tx, waitAtMost } from '../platform/postgres.ts'
import type { MonitorState } from '../verdict/types.ts'
import { storeUnchecked, type Unchecked } from '../verdict/unchecked-actions.ts'
import { movePosition, noteSaved, persistently, type ReaderTools, type Reading } from './actions.ts'
import { publishHints } from './hint-actions.ts'
import { isHeld, isOneTenants } from './judging-actions.ts'
import { findUnchecked, noteRound, regionStatesOf } from './unchecked.ts'

const LOOK_EVERY_MS = 5_000
const AT_ONCE = 200
/** A reader that is further behind does not know what was published lately. */
const BEHIND_MS = 10_000
/** The server says at least every 2 s that it has nothing. */
const HEARD_WITHIN_MS = 6_000
const LOCK_MS = 100
const LOCK_MS_ONE_BY_ONE = 20

/**
 * Takes the status from monitors that no probe checks (decision 196). To be called when everything that was counted is
 * stored. `silentMs`: for how long the server had sent nothing when the newest
 * messages were taken; `isAll`: there were no more.
 */
export async function heedUnchecked(reading: Reading, silentMs: number, isAll: boolean): Promise<void> {
  const { tools, memory, sight, position, deferred, unstored } = reading
  const nowMs = monotonicMs()
  // as this reader has it: what it remembers moves with its own next message
  const logMs = nowMs + reading.logTime.offsetMs
  const isRecent = isAll || (position.takenAtMs !== null && logMs - position.takenAtMs < BEHIND_MS)
  noteRound(sight, silentMs < HEARD_WITHIN_MS && isRecent, nowMs)
  if (nowMs - sight.lookedMs < LOOK_EVERY_MS || sight.soundSinceMs === null) return
  sight.lookedMs = nowMs
  const { explainedSinceMs } = tools.regionSight
  const look = { sight, explainedSinceMs, monotonicMs: nowMs, logMs }
  const found = findUnchecked(memory, look, AT_ONCE)
  const free = found.filter(({ monitorId }) => !deferred.has(monitorId))
  if (free.length === 0) return
  const states = await persistently(reading, () =>
    tools.db.transaction(async tx => {
      await movePosition(tx, reading, LOCK_MS)
      return storeApart(tx, free, tools)
    }),
  )
  noteSaved(reading)
  for (const state of states) {
    memory.get(state.monitorId)!.state = state
    unstored.delete(state.monitorId)
  }
  publishHints(tools.nats, { regionStates: regionStatesOf(states), asks: [] })
  // the rest at once, also where some of these could not be stored
  if (found.length >= AT_ONCE && states.length > 0) sight.lookedMs = Number.NEGATIVE_INFINITY
  tools.meters.unchecked.inc(states.filter(({ unchecked }) => unchecked!.isTold).length)
}

/** All at once; after a refusal, or when a lock does not come, one by one: what one tenant's rows hold up comes later. */
async function storeApart(tx: Tx, found: Unchecked[], { publicUrl, setAside }: ReaderTools): Promise<MonitorState[]> {
  const store = (some: Unchecked[]) => tx.transaction(savepoint => storeUnchecked(savepoint, some, publicUrl, now()))
  return store(found).catch(async error => {
    if (!isOneTenants(error)) throw error
    await waitAtMost(tx, LOCK_MS_ONE_BY_ONE)
    const stored: MonitorState[] = []
    for (const one of found) {
      const states = await store([one]).catch(err => {
        if (!isOneTenants(err)) throw err
        if (isHeld(err)) return []
        setAside('decision', 'an unchecked monitor was set aside', { err, monitorId: one.monitorId })
        return []
      })
      stored.push(...states)
    }
    return stored
  })
}
