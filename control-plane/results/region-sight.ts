import type { Absences } from '../verdict/types.ts'
import type { RegionLive } from './live-sets.ts'

/**
 * Whether silence about a region is explained: either it is known that no probe of it can publish, or its results arrive. Where
 * neither is so, results may be lost on their way, and that is our fault. All times are monotonic, in ms.
 */
export type RegionSight = {
  /** when the newest message of a region was read */
  heardMs: Map<string, number>
  /** since when the silence is explained all the time; a region that is missing: it is not */
  explainedSinceMs: Map<string, number>
  lookedMs: number
}

export const newRegionSight = (): RegionSight => ({
  heardMs: new Map(),
  explainedSinceMs: new Map(),
  lookedMs: Number.NEGATIVE_INFINITY,
})

/** Results of a region that come less often than this do not show that all of them arrive. */
const HEARD_WITHIN_MS = 60_000
/** After a longer time without a look nothing is known of what was in between. */
const LOOK_WITHIN_MS = 15_000

/** To be called every few seconds. `isGone`: no probe of the region can publish. */
export function lookAtSight(
  sight: RegionSight,
  regions: readonly string[],
  isGone: (region: string) => boolean,
  nowMs: number,
): void {
  const { explainedSinceMs, heardMs } = sight
  if (nowMs - sight.lookedMs > LOOK_WITHIN_MS) explainedSinceMs.clear()
  sight.lookedMs = nowMs
  for (const region of regions) {
    const isHeard = nowMs - (heardMs.get(region) ?? Number.NEGATIVE_INFINITY) <= HEARD_WITHIN_MS
    if (!isHeard && !isGone(region)) explainedSinceMs.delete(region)
    else if (!explainedSinceMs.has(region)) explainedSinceMs.set(region, nowMs)
  }
}

/** Whether no probe of a region can publish, as far as the fleet knows. */
export function isRegionGone(live: RegionLive | undefined, absences: Absences, region: string): boolean {
  if (absences.get(region)?.untilMs === Number.POSITIVE_INFINITY) return true
  for (const spans of live?.spans.values() ?? [])
    if (spans.some(({ until }) => until === Number.POSITIVE_INFINITY)) return false
  return true
}
