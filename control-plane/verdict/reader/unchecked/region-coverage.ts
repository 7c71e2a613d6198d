import type { RegionAbsences } from '../../core/types.ts'
import type { RegionLiveSet } from '../live-sets/live-sets.ts'

/** A time in which nothing explained missing results. `untilMs`: when they were explained again; null: not yet. */
type Silence = { lengthMs: number; untilMs: number | null }

/**
 * Whether missing results of a region are explained: no probe of it can publish, or other results of it arrive.
 * Otherwise results may be lost on their way, which must not cost a monitor its status. All times are monotonic, in ms.
 */
export type RegionCoverage = {
  /** when the newest message of a region was read, or was seen in a partition of another process */
  receivedMs: Map<string, number>
  /** the silences of each region that are longer than all later ones */
  silences: Map<string, Silence[]>
  /** since when it is updated without a gap */
  sinceMs: number
  updatedMs: number
}

export const createRegionCoverage = (): RegionCoverage => ({
  receivedMs: new Map(),
  silences: new Map(),
  sinceMs: Number.NEGATIVE_INFINITY,
  updatedMs: Number.NEGATIVE_INFINITY,
})

/** Results of a region may be missing for this long in any case, however short an interval is. */
const MIN_SILENCE_MS = 60_000
/**
 * How many intervals of a monitor its region may be silent. A monitor with the same interval or a shorter one sends at
 * least one result in that time, also when all its results are unknown. When all results of the region are lost, silence
 * is no longer explained 2.5 intervals + timeout after the last result of the monitor at the latest (with intervals below
 * 40 s, an interval + timeout + `MIN_SILENCE_MS`). From 30 s on, that is not after its vote ends (3 intervals + timeout).
 */
const SILENT_INTERVALS = 1.5
/** After a longer gap between updates, the time before is unknown. */
const MAX_UPDATE_GAP_MS = 15_000

/** To be called every few seconds. `isGone`: no probe of the region can publish. */
export function updateRegionCoverage(
  coverage: RegionCoverage,
  regions: readonly string[],
  isGone: (region: string) => boolean,
  nowMs: number,
): void {
  const { receivedMs, silences } = coverage
  if (nowMs - coverage.updatedMs > MAX_UPDATE_GAP_MS) {
    silences.clear()
    coverage.sinceMs = nowMs
  }
  coverage.updatedMs = nowMs
  for (const region of regions) {
    const lengthMs = isGone(region) ? 0 : nowMs - (receivedMs.get(region) ?? Number.NEGATIVE_INFINITY)
    silences.set(region, addSilence(silences.get(region) ?? [], lengthMs, nowMs))
  }
}

/** Adds how long a region is silent now. An earlier silence that was shorter says nothing more. */
function addSilence(known: readonly Silence[], lengthMs: number, nowMs: number): Silence[] {
  const longer = known.filter(silence => silence.lengthMs > lengthMs)
  const ended = longer.map(silence => ({ ...silence, untilMs: silence.untilMs ?? nowMs }))
  return lengthMs > MIN_SILENCE_MS ? [...ended, { lengthMs, untilMs: null }] : ended
}

/**
 * Since when missing results of a monitor with this interval are explained in a region without a gap; null: they are not
 * explained now.
 */
export function findExplainedSinceMs(
  { silences, sinceMs }: RegionCoverage,
  region: string,
  intervalMs: number,
): number | null {
  const maxMs = Math.max(MIN_SILENCE_MS, SILENT_INTERVALS * intervalMs)
  const known = silences.get(region)
  if (known === undefined) return null
  const last = known.findLast(({ lengthMs }) => lengthMs > maxMs)
  return last ? last.untilMs : sinceMs
}

/** Whether no probe of a region can publish, according to the fleet. */
export function isRegionGone(live: RegionLiveSet | undefined, absences: RegionAbsences, region: string): boolean {
  if (absences.get(region)?.untilMs === Number.POSITIVE_INFINITY) return true
  for (const spans of live?.spans.values() ?? [])
    if (spans.some(({ until }) => until === Number.POSITIVE_INFINITY)) return false
  return true
}
