import type { RegionAbsences } from '../../core/types.ts'
import type { RegionLiveSet } from '../live-sets/live-sets.ts'

/**
 * Whether missing results of a region are explained: no probe of it can publish, or other results of it arrive.
 * Otherwise results may be lost on their way, which must not cost a monitor its status. All times are monotonic, in ms.
 */
export type RegionCoverage = {
  /** when the newest message of a region was read */
  receivedMs: Map<string, number>
  /** since when missing results are explained without a gap; a region is absent from the map if they are not */
  explainedSinceMs: Map<string, number>
  updatedMs: number
}

export const createRegionCoverage = (): RegionCoverage => ({
  receivedMs: new Map(),
  explainedSinceMs: new Map(),
  updatedMs: Number.NEGATIVE_INFINITY,
})

/** Results of a region must arrive at least this often to show that nothing is lost. */
const MAX_SILENCE_MS = 60_000
/** After a longer gap between updates, the time before is unknown. */
const MAX_UPDATE_GAP_MS = 15_000

/** To be called every few seconds. `isGone`: no probe of the region can publish. */
export function updateRegionCoverage(
  coverage: RegionCoverage,
  regions: readonly string[],
  isGone: (region: string) => boolean,
  nowMs: number,
): void {
  const { explainedSinceMs, receivedMs } = coverage
  if (nowMs - coverage.updatedMs > MAX_UPDATE_GAP_MS) explainedSinceMs.clear()
  coverage.updatedMs = nowMs
  for (const region of regions) {
    const isRecent = nowMs - (receivedMs.get(region) ?? Number.NEGATIVE_INFINITY) <= MAX_SILENCE_MS
    if (!isRecent && !isGone(region)) explainedSinceMs.delete(region)
    else if (!explainedSinceMs.has(region)) explainedSinceMs.set(region, nowMs)
  }
}

/** Whether no probe of a region can publish, according to the fleet. */
export function isRegionGone(live: RegionLiveSet | undefined, absences: RegionAbsences, region: string): boolean {
  if (absences.get(region)?.untilMs === Number.POSITIVE_INFINITY) return true
  for (const spans of live?.spans.values() ?? [])
    if (spans.some(({ until }) => until === Number.POSITIVE_INFINITY)) return false
  return true
}
