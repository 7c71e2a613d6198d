import type { RegionAbsences } from '../../core/types.ts'
import type { RegionLiveSet } from '../live-sets/live-sets.ts'

/**
 * Whether silence about a region is explained: either it is known that no probe of it can publish, or its results arrive. Where
 * neither is so, results may be lost on their way, and that is our fault. All times are monotonic, in ms.
 */
export type RegionCoverage = {
  /** when the newest message of a region was read */
  heardMs: Map<string, number>
  /** since when the silence is explained all the time; a region that is missing: it is not */
  explainedSinceMs: Map<string, number>
  updatedMs: number
}

export const createRegionCoverage = (): RegionCoverage => ({
  heardMs: new Map(),
  explainedSinceMs: new Map(),
  updatedMs: Number.NEGATIVE_INFINITY,
})

/** Results of a region that come less often than this do not show that all of them arrive. */
const MAX_SILENCE_MS = 60_000
/** After a longer time without a look nothing is known of what was in between. */
const MAX_UPDATE_GAP_MS = 15_000

/** To be called every few seconds. `isGone`: no probe of the region can publish. */
export function updateRegionCoverage(
  coverage: RegionCoverage,
  regions: readonly string[],
  isGone: (region: string) => boolean,
  nowMs: number,
): void {
  const { explainedSinceMs, heardMs } = coverage
  if (nowMs - coverage.updatedMs > MAX_UPDATE_GAP_MS) explainedSinceMs.clear()
  coverage.updatedMs = nowMs
  for (const region of regions) {
    const isHeard = nowMs - (heardMs.get(region) ?? Number.NEGATIVE_INFINITY) <= MAX_SILENCE_MS
    if (!isHeard && !isGone(region)) explainedSinceMs.delete(region)
    else if (!explainedSinceMs.has(region)) explainedSinceMs.set(region, nowMs)
  }
}

/** Whether no probe of a region can publish, as far as the fleet knows. */
export function isRegionGone(live: RegionLiveSet | undefined, absences: RegionAbsences, region: string): boolean {
  if (absences.get(region)?.untilMs === Number.POSITIVE_INFINITY) return true
  for (const spans of live?.spans.values() ?? [])
    if (spans.some(({ until }) => until === Number.POSITIVE_INFINITY)) return false
  return true
}
