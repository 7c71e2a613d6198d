import type { MonitorState, Policy, RegionAbsences, RegionTally } from '../types.ts'
import { resetStreaks } from './streaks.ts'

/*
 * A region without a probe that can publish has no vote (docs/design/verdict.md#absent-regions). The times of absences
 * are JetStream times, so each result is decided by what was true when JetStream took it, even if it is read later.
 */

/**
 * When the vote of a region ended because the region had no probe; Infinity if it did not end. After a restart without
 * a checkpoint (`restoredAtMs`), a region that was ok may have been checked after an absence, because such a result is
 * not stored; it keeps its vote.
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

/** The regions that have no probe at `nowMs` and from which nothing has counted since their absence began. */
export function listAbsentRegions({ cells }: MonitorState, { regions, absences }: Policy, nowMs: number): string[] {
  if (!absences) return []
  return regions.filter(region => {
    const absence = absences.get(region)
    if (absence === undefined || nowMs < absence.fromMs || nowMs >= absence.untilMs) return false
    const votedAtMs = cells.find(cell => cell.region === region)?.votedAtMs ?? null
    return votedAtMs === null || votedAtMs < absence.fromMs
  })
}

/**
 * The cell before the next result: after an absence a region has no vote until a chain has decided, like a new region.
 */
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

/** The absences that concern a monitor; null if there are none. */
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
