import { resetStreaks } from './streaks.ts'
import type { Absences, Cell, MonitorState, Policy } from './types.ts'

/**
 * A region without a probe that can publish has no vote (decision 195). The verdict knows since when, in JetStream's time,
 * so each result is decided by what was true when it was taken, also when it is read later.
 */

/**
 * When the vote of a region ended because the region had no probe; Infinity: that did not end it. After a restart without
 * a checkpoint (`restoredAtMs`) a region that was ok may have been checked since an absence: such a result is not stored.
 */
export function lostMs({ region, state, votedAtMs }: Cell, absences: Absences, restoredAtMs: number | null): number {
  const absence = absences.get(region)
  if (absence === undefined || votedAtMs === null || votedAtMs >= absence.fromMs) return Infinity
  const mayBeNewer = state === 'ok' && restoredAtMs !== null && absence.untilMs <= restoredAtMs
  return mayBeNewer ? Infinity : absence.fromMs
}

/** The regions that have no probe at `nowMs`, and from which nothing has counted since then. */
export function absentRegions({ cells }: MonitorState, { regions, absences }: Policy, nowMs: number): string[] {
  if (!absences) return []
  return regions.filter(region => {
    const absence = absences.get(region)
    if (absence === undefined || nowMs < absence.fromMs || nowMs >= absence.untilMs) return false
    const votedAtMs = cells.find(cell => cell.region === region)?.votedAtMs ?? null
    return votedAtMs === null || votedAtMs < absence.fromMs
  })
}

/** A region as its next result finds it: after an absence it has no vote until a chain has decided, as a new region. */
export function cellOnReturn(cell: Cell, absences: Absences, restoredAtMs: number | null, nowMs: number): Cell {
  if (cell.state === 'pending' || lostMs(cell, absences, restoredAtMs) > nowMs) return cell
  return resetStreaks({ ...cell, state: 'pending' })
}

const keyOf = (absences: Absences) =>
  [...absences].map(([region, { fromMs, untilMs }]) => `${region} ${fromMs} ${untilMs}`)

/** What of the known absences concerns a monitor; null: nothing. */
export function absencesOf({ regions }: Policy, known: Absences): { absences: Absences; key: string } | null {
  const some = regions.flatMap(region => {
    const absence = known.get(region)
    return absence === undefined ? [] : [[region, absence] as const]
  })
  if (some.length === 0) return null
  const absences = new Map(some)
  return { absences, key: keyOf(absences).join(' ') }
}
