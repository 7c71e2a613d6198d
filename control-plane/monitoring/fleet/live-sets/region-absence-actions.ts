import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import type { FleetContext } from '../context.ts'
import type { ProbeState } from './live-set.ts'
import { createRegionAbsenceState, detectAbsentRegions, markRecorded, shouldRecord } from './region-absence.ts'
import { recordRegionAbsences } from './region-absence-store.ts'

export type RegionAbsenceRecorder = (regions: Iterable<string>, probes: readonly ProbeState[]) => Promise<void>

/** Returns a function that records regions without a probe that can publish. Call it each round with the states of all probes. */
export function createRegionAbsenceRecorder({
  db,
  timing,
  log,
}: Pick<FleetContext, 'db' | 'timing' | 'log'>): RegionAbsenceRecorder {
  const state = createRegionAbsenceState()
  return async (regions, probes) => {
    const nowMs = monotonicMs()
    const presence = detectAbsentRegions(state, regions, probes, timing, nowMs)
    if (!shouldRecord(state, presence, nowMs)) return
    for (const { region, isAbsent } of await recordRegionAbsences(db, presence)) {
      if (isAbsent) log.warn({ region }, 'no probe of the region can publish; the region has no vote')
      else log.info({ region }, 'a probe of the region can publish again')
    }
    markRecorded(state, presence, nowMs)
  }
}
