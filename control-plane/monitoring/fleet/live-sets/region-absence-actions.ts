import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import type { FleetContext } from '../context.ts'
import type { ProbeState } from './live-set.ts'
import { createRegionAbsenceState, detectAbsentRegions, findUnrecorded } from './region-absence.ts'
import { recordRegionAbsences } from './region-absence-store.ts'
import type { StoredLiveSet } from './store.ts'

export type RegionAbsenceRecorder = (
  liveSets: readonly Pick<StoredLiveSet, 'region' | 'isAbsent'>[],
  probes: readonly ProbeState[],
) => Promise<void>

/**
 * Returns a function that records regions without a probe that can publish. Call it each round with the stored live sets and
 * the states of all probes. It writes only what differs from them.
 */
export function createRegionAbsenceRecorder({
  db,
  timing,
  log,
}: Pick<FleetContext, 'db' | 'timing' | 'log'>): RegionAbsenceRecorder {
  const state = createRegionAbsenceState()
  return async (liveSets, probes) => {
    const regions = liveSets.map(({ region }) => region)
    const unrecorded = findUnrecorded(detectAbsentRegions(state, regions, probes, timing, monotonicMs()), liveSets)
    if (unrecorded.absent.length === 0 && unrecorded.present.length === 0) return
    for (const { region, isAbsent } of await recordRegionAbsences(db, unrecorded)) {
      if (isAbsent) log.warn({ region }, 'no probe of the region can publish; the region has no vote')
      else log.info({ region }, 'a probe of the region can publish again')
    }
  }
}
