import type { RegionDoubt, RegionTally } from '../types.ts'

/**
 * True for a failing region whose vote waits because its probe doubts its own failures (docs/design/doubt.md).
 */
export const isVoteHeld = ({ state, doubt }: RegionTally): boolean => state === 'failing' && doubt?.settledBy === null

/** The doubt after the target or the assertions changed: the answer of a witness does not apply to them. */
export const resetDoubt = ({ state, doubt }: RegionTally): { doubt?: RegionDoubt } =>
  doubt && state === 'failing' ? { doubt: { ...doubt, witness: null } } : {}

/** The doubt after JetStream's clock was set by `stepMs`. Slots move by `slotMs`. */
export function shiftDoubtTimes({ doubt }: RegionTally, stepMs: number, slotMs: number): { doubt?: RegionDoubt } {
  if (!doubt) return {}
  const { sinceMs, askedForMs, witness, settledBy } = doubt
  return {
    doubt: {
      settledBy,
      // by the whole step, also when the clock was set ahead: the next slot must not count as a later check
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
