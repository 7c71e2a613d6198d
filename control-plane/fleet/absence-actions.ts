import { monotonicMs } from '../platform/clock.ts'
import { lookAtRegions, newAbsenceWatch } from './absence.ts'
import { recordAbsences } from './absence-store.ts'
import type { Desk } from './desk.ts'
import type { ProbeSeen } from './live-set.ts'

/** How often to check whether a region that was without a probe has one again. */
const PRESENT_EVERY_MS = 3_000

export type NoteAbsences = (regions: Iterable<string>, probes: readonly ProbeSeen[]) => Promise<void>

/** To be called each round with what the database knows of the probes of all regions: it notes those without one. */
export function createNoteAbsences({ db, timing, log }: Pick<Desk, 'db' | 'timing' | 'log'>): NoteAbsences {
  const watch = newAbsenceWatch()
  let recordedMs = Number.NEGATIVE_INFINITY
  let known = ''
  return async (regions, probes) => {
    const nowMs = monotonicMs()
    const looked = lookAtRegions(watch, regions, probes, timing, nowMs)
    const absent = looked.absent.join(' ')
    if (absent === known && nowMs - recordedMs < PRESENT_EVERY_MS) return
    for (const { region, isAbsent } of await recordAbsences(db, looked)) {
      if (isAbsent) log.warn({ region }, 'no probe of the region can publish; the region has no vote')
      else log.info({ region }, 'a probe of the region can publish again')
    }
    known = absent
    recordedMs = nowMs
  }
}
