import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import type { FleetContext } from '../context.ts'
import type { ProbeState } from './live-set.ts'
import { createRegionAbsenceState, detectAbsentRegions, markRecorded, shouldRecord } from './region-absence.ts'
import { recordRegionAbsences } from './region-absence-store.ts'

export type RegionAbsenceRecorder = (regions: Iterable<string>, probes: readonly ProbeState[]) => Promise<void>

/** To be called each round with what the database knows of the probes of all regions: it notes those without one. */
export function createRegionAbsenceRecorder({
  db,
  timing,
  log,
}: Pick<FleetContext, 'db' | 'timing' | 'log'>): RegionAbsenceRecorder {
  const watch = createRegionAbsenceState()
  return async (regions, probes) => {
    const nowMs = monotonicMs()
    const looked = detectAbsentRegions(watch, regions, probes, timing, nowMs)
    if (!shouldRecord(watch, looked, nowMs)) return
    for (const { region, isAbsent } of await recordRegionAbsences(db, looked)) {
      if (isAbsent) log.warn({ region }, 'no probe of the region can publish; the region has no vote')
      else log.info({ region }, 'a probe of the region can publish again')
    }
    markRecorded(watch, looked, nowMs)
  }
}
