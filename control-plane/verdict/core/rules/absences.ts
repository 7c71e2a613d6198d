import type { MonitorState, Policy, RegionAbsences, RegionTally } from '../types.ts'
import { resetStreaks } from './streaks.ts'

/**
 * A region without a probe that can publish has no vote (decision 195). The verdict knows since when, in JetStream's time,
 * so each result is decided by what was true when it was taken, also when it is read later.
 */

/**
 * When the vote of a region ended because the region had no probe; Infinity: that did not end it. After a restart without
 * a checkpoint (`restoredAtMs`) a region that was ok may have been checked since an absence: such a result is not stored.
 */
export function computeVoteLostMs(
  { region, state, votedAtMs }: RegionTally,
  absences: RegionAbsences,
  restoredAtMs: number | null,
): number {
  const absence = absences.get(region)
  if (absence === undefined || votedAtMs === null || votedAtMs >= absence.fromMs) return Infinity
  const mayBeNewer = state === 'ok' && restoredAtMs !== null && absence.untilMs <= restoredAtMs
  return mayBeNewer ? Infinity : absence.fromMs
}

/** The regions that have no probe at `nowMs`, and from which nothing has counted since then. */
export function listAbsentRegions({ cells }: MonitorState, { regions, absences }: Policy, nowMs: number): string[] {
  if (!absences) return []
  return regions.filter(region => {
    const absence = absences.get(region)
    if (absence === undefined || nowMs < absence.fromMs || nowMs >= absence.untilMs) return false
    const votedAtMs = cells.find(cell => cell.region === region)?.votedAtMs ?? null
    return votedAtMs === null || votedAtMs < absence.fromMs
  })
}

/** A region as its next result finds it: after an absence it has no vote until a chain has decided, as a new region. */
export function resetAfterAbsence(
  cell: RegionTally,
  absences: RegionAbsences,
  restoredAtMs: number | null,
  nowMs: number,
): RegionTally {
  if (cell.state === 'pending' || computeVoteLostMs(cell, absences, restoredAtMs) > nowMs) return cell
  return resetStreaks({ ...cell, state: 'pending' })
}

const buildKey = (absences: RegionAbsences) =>
  [...absences].map(([region, { fromMs, untilMs }]) => `${region} ${fromMs} ${untilMs}`)

/** What of the known absences concerns a monitor; null: nothing. */
export function selectAbsences(
  { regions }: Policy,
  known: RegionAbsences,
): { absences: RegionAbsences; key: string } | null {
  const some = regions.flatMap(region => {
    const absence = known.get(region)
    return absence === undefined ? [] : [[region, absence] as const]
  })
  if (some.length === 0) return null
  const absences = new Map(some)
  return { absences, key: buildKey(absences).join(' ') }
}
