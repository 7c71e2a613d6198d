import type { RegionDoubt, RegionTally } from '../types.ts'

/** A failing region whose vote waits, because its probe doubts itself (decision 197). */
export const isVoteHeld = ({ state, doubt }: RegionTally): boolean => state === 'failing' && doubt?.settledBy === null

/** The doubt after the target or the assertions have changed: what a witness saw says nothing of them. */
export const resetDoubt = ({ state, doubt }: RegionTally): { doubt?: RegionDoubt } =>
  doubt && state === 'failing' ? { doubt: { ...doubt, witness: null } } : {}

/** The doubt after JetStream's clock was set by `stepMs`; slots move by `slotMs`. */
export function shiftDoubtTimes({ doubt }: RegionTally, stepMs: number, slotMs: number): { doubt?: RegionDoubt } {
  if (!doubt) return {}
  const { sinceMs, askedForMs, witness, settledBy } = doubt
  return {
    doubt: {
      settledBy,
      // not less with a clock that was set ahead: the next slot does not count as a later check
      sinceMs: sinceMs + stepMs,
      askedForMs: askedForMs === null ? null : askedForMs + slotMs,
      witness: witness && {
        ...witness,
        takenAtMs: witness.takenAtMs + stepMs,
        check: { ...witness.check, scheduledAtMs: witness.check.scheduledAtMs + slotMs },
      },
    },
  }
}
