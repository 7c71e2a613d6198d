import type { VerdictChange } from '../../core/decision-actions.ts'
import type { MonitorState } from '../../core/types.ts'
import type { VerdictMonitorRow } from '../counting/policy.ts'

/**
 * The deferred changes of one monitor, merged. `change`: null when it no longer counts. `rows`: how many rows store it.
 * `before`: the state before it; null if only a process that has ended had it.
 */
type DeferredChange = { change: VerdictChange | null; rows: number; before: MonitorState | null }

/** By monitor. */
export type DeferredChanges = Map<string, DeferredChange>

/** Adds the next change of a monitor after those that wait already. */
export function deferChange(deferred: DeferredChanges, change: VerdictChange, stateBefore: MonitorState | null): void {
  const before = deferred.get(change.monitorId)
  const transitions = [...(before?.change?.transitions ?? []), ...change.transitions]
  deferred.set(change.monitorId, {
    change: { ...change, transitions },
    rows: (before?.rows ?? 0) + 1,
    before: before?.change ? before.before : stateBefore,
  })
}

type StoredMonitorRow = VerdictMonitorRow & { state: MonitorState | null }

/**
 * The monitor as it will be when its deferred change is stored. If the monitor was paused, deleted or changed since,
 * the change no longer counts (`isVoid`), and the monitor is as it is stored, or as it was before the change.
 */
export function applyDeferredChange(
  deferred: DeferredChanges,
  monitorId: string,
  row: StoredMonitorRow | null,
): { row: StoredMonitorRow | null; isVoid: boolean } {
  const deferral = deferred.get(monitorId)
  if (!deferral?.change) return { row, isVoid: false }
  const { change } = deferral
  if (row && !row.isDeleted && !row.isPaused && row.configVersion <= change.configVersion) {
    const status = change.transitions.at(-1)?.to ?? row.status
    return { row: { ...row, status, state: change.state }, isVoid: false }
  }
  deferred.set(monitorId, { ...deferral, change: null })
  return { row: restoreStateBefore(row, deferral.before), isVoid: true }
}

/** A monitor that is still checked, with the state from before a change that was discarded. */
export function restoreStateBefore(row: StoredMonitorRow | null, before: MonitorState | null): StoredMonitorRow | null {
  // without a stored state it was paused in the meantime and begins again
  const isChecked = row?.state != null && !row.isDeleted && !row.isPaused
  return isChecked && before ? { ...row, state: before } : row
}
