import { monotonicMs } from '../platform/clock.ts'
import { isToRecord, lookAtRegions, newAbsenceWatch, noteRecorded } from './absence.ts'
import { recordAbsences } from './absence-store.ts'
import type { Desk } from './desk.ts'
import type { ProbeSeen } from './live-set.ts'

export type NoteAbsences = (regions: Iterable<string>, probes: readonly ProbeSeen[]) => Promise<void>

/** To be called each round with what the database knows of the probes of all regions: it notes those without one. */
export function createNoteAbsences({ db, timing, log }: Pick<Desk, 'db' | 'timing' | 'log'>): NoteAbsences {
  const watch = newAbsenceWatch()
  return async (regions, probes) => {
    const nowMs = monotonicMs()
    const looked = lookAtRegions(watch, regions, probes, timing, nowMs)
    if (!isToRecord(watch, looked, nowMs)) return
    for (const { region, isAbsent } of await recordAbsences(db, looked)) {
      if (isAbsent) log.warn({ region }, 'no probe of the region can publish; the region has no vote')
      else log.info({ region }, 'a probe of the region can publish again')
    }
    noteRecorded(watch, looked, nowMs)
  }
}
