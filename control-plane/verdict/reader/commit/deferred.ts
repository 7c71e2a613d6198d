import type { VerdictChange } from '../../core/decision-actions.ts'
import type { MonitorState } from '../../core/types.ts'
import type { VerdictMonitorRow } from '../counting/policy.ts'

/**
 * What is stored of a monitor and waits for its locked rows. `change` null: it does not count any more. `before`: the
 * state before it; null where only a process that has ended knew it.
 */
export type DeferredChange = { change: VerdictChange | null; rows: number; before: MonitorState | null }

/** By monitor. */
export type DeferredChanges = Map<string, DeferredChange>

/** A monitor's next change behind those that wait already. */
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
 * The monitor as it will be once its deferred change is stored. One that was paused, deleted or changed since is as it
 * is stored, or was before the change, and that does not count any more (decisions 4.8); then `isVoid`.
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

/** A monitor that is watched still, with the state that it had before a change that was given up. */
export function restoreStateBefore(row: StoredMonitorRow | null, before: MonitorState | null): StoredMonitorRow | null {
  // without a stored state it was paused meanwhile, and begins again
  const isWatched = row?.state != null && !row.isDeleted && !row.isPaused
  return isWatched && before ? { ...row, state: before } : row
}
