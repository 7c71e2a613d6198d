import type { Cell, CellDoubt } from './types.ts'

/** A failing region whose vote waits, because its probe doubts itself (decision 197). */
export const isHeld = ({ state, doubt }: Cell): boolean => state === 'failing' && doubt?.settledBy === null

/** The doubt after the target or the assertions have changed: what a witness saw says nothing of them. */
export const doubtOfNewTarget = ({ state, doubt }: Cell): { doubt?: CellDoubt } =>
  doubt && state === 'failing' ? { doubt: { ...doubt, witness: null } } : {}

/** The doubt after JetStream's clock was set by `stepMs`; slots move by `slotMs`. */
export function doubtAfterClockStep({ doubt }: Cell, stepMs: number, slotMs: number): { doubt?: CellDoubt } {
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
