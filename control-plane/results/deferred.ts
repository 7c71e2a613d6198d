import type { Change } from '../verdict/judge.ts'
import type { MonitorState } from '../verdict/types.ts'
import type { WatchedMonitor } from './policy.ts'

/**
 * What is stored of a monitor and waits for its locked rows. `change` null: it does not count any more. `before`: the
 * state before it; null where only a process that has ended knew it.
 */
export type Deferral = { change: Change | null; rows: number; before: MonitorState | null }

/** By monitor. */
export type Deferred = Map<string, Deferral>

/** A monitor's next change behind those that wait already. */
export function defer(deferred: Deferred, change: Change, stateBefore: MonitorState | null): void {
  const before = deferred.get(change.monitorId)
  const transitions = [...(before?.change?.transitions ?? []), ...change.transitions]
  deferred.set(change.monitorId, {
    change: { ...change, transitions },
    rows: (before?.rows ?? 0) + 1,
    before: before?.change ? before.before : stateBefore,
  })
}

type Stored = WatchedMonitor & { state: MonitorState | null }

/**
 * The monitor as it will be once its deferred change is stored. One that was paused, deleted or changed since is as it
 * is stored, or was before the change, and that does not count any more (decisions 4.8); then `isVoid`.
 */
export function withDeferred(
  deferred: Deferred,
  monitorId: string,
  row: Stored | null,
): { row: Stored | null; isVoid: boolean } {
  const deferral = deferred.get(monitorId)
  if (!deferral?.change) return { row, isVoid: false }
  const { change } = deferral
  if (row && !row.isDeleted && !row.isPaused && row.configVersion <= change.configVersion) {
    const status = change.transitions.at(-1)?.to ?? row.status
    return { row: { ...row, status, state: change.state }, isVoid: false }
  }
  deferred.set(monitorId, { ...deferral, change: null })
  return { row: asBefore(row, deferral.before), isVoid: true }
}

/** A monitor that is watched still, with the state that it had before a change that was given up. */
export function asBefore(row: Stored | null, before: MonitorState | null): Stored | null {
  // without a stored state it was paused meanwhile, and begins again
  const isWatched = row?.state != null && !row.isDeleted && !row.isPaused
  return isWatched && before ? { ...row, state: before } : row
}
