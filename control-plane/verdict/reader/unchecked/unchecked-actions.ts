import { isLockTimeout, isTenantError, setLockTimeout, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { monotonicMs, now } from '../../../foundation/platform/time/clock.ts'
import type { MonitorState } from '../../core/types.ts'
import { storeUncheckedMonitors, type UncheckedMonitor } from '../../core/unknown-status/unchecked-actions.ts'
import { publishHints } from '../commit/hint-actions.ts'
import { markSaved, movePosition, type PartitionReading, type ReaderTools, retryUntilDone } from '../reading-actions.ts'
import { findUncheckedMonitors, recordRound, toRegionStates } from './unchecked.ts'

const SCAN_INTERVAL_MS = 5_000
const BATCH_SIZE = 200
/** A reader that is further behind does not know the newest results. */
const MAX_LAG_MS = 10_000
/** A server without messages sends an idle heartbeat every 2 s. */
const MAX_SILENCE_MS = 6_000
const LOCK_TIMEOUT_MS = 100
const SINGLE_LOCK_TIMEOUT_MS = 20

/**
 * Clears the status of monitors for which no check counts (docs/design/verdict.md#unknown-status). To be called when
 * everything that was counted is stored. `silentMs`: for how long the server had sent nothing when the newest messages
 * were fetched. `isAll`: there were no more messages.
 */
export async function clearUncheckedStatuses(
  reading: PartitionReading,
  silentMs: number,
  isAll: boolean,
): Promise<void> {
  const { tools, memory, coverage, position, deferred, unstored } = reading
  const nowMs = monotonicMs()
  // JetStream's time as this reader knows it: its remembered times move with its next message
  const logMs = nowMs + reading.streamClock.offsetMs
  const isRecent = isAll || (position.takenAtMs !== null && logMs - position.takenAtMs < MAX_LAG_MS)
  recordRound(coverage, silentMs < MAX_SILENCE_MS && isRecent, nowMs)
  if (nowMs - coverage.scannedMs < SCAN_INTERVAL_MS || coverage.completeSinceMs === null) return
  coverage.scannedMs = nowMs
  const scan = { coverage, regionCoverage: tools.regionCoverage, monotonicMs: nowMs, logMs }
  const found = findUncheckedMonitors(memory, scan, BATCH_SIZE)
  const free = found.filter(({ monitorId }) => !deferred.has(monitorId))
  if (free.length === 0) return
  const stored = await retryUntilDone(reading, () =>
    tools.db.transaction(async tx => {
      await movePosition(tx, reading, LOCK_TIMEOUT_MS)
      return storeIsolated(tx, free, tools)
    }),
  )
  markSaved(reading)
  const states = stored.filter(one => one.unchecked!.isTold !== memory.get(one.monitorId)!.state.unchecked?.isTold)
  for (const state of states) {
    memory.get(state.monitorId)!.state = state
    unstored.delete(state.monitorId)
  }
  publishHints(tools.nats, { regionStates: toRegionStates(states), asks: [] })
  // scan for the rest in the next round, even if some of these could not be stored
  if (found.length >= BATCH_SIZE && states.length > 0) coverage.scannedMs = Number.NEGATIVE_INFINITY
  tools.metrics.unchecked.inc(states.filter(({ unchecked }) => unchecked!.isTold).length)
}

/**
 * Stores all together; after an error or a lock timeout one by one, so that one tenant's rows delay only themselves.
 */
async function storeIsolated(
  tx: Tx,
  found: UncheckedMonitor[],
  { publicUrl, setAside }: ReaderTools,
): Promise<MonitorState[]> {
  const store = (some: UncheckedMonitor[]) =>
    tx.transaction(savepoint => storeUncheckedMonitors(savepoint, some, publicUrl, now()))
  return store(found).catch(async error => {
    if (!isTenantError(error)) throw error
    await setLockTimeout(tx, SINGLE_LOCK_TIMEOUT_MS)
    const stored: MonitorState[] = []
    for (const one of found) {
      const states = await store([one]).catch(err => {
        if (!isTenantError(err)) throw err
        if (isLockTimeout(err)) return []
        setAside('decision', 'set aside an unchecked monitor that cannot be stored', { err, monitorId: one.monitorId })
        return []
      })
      stored.push(...states)
    }
    return stored
  })
}
