import type { RegionDoubt, RegionTally } from '../types.ts'

/**
 * True for a failing region whose vote waits because its probe doubts its own failures (docs/design/doubt.md).
 */
export const isVoteHeld = ({ state, doubt }: RegionTally): boolean => state === 'failing' && doubt?.settledBy === null

/** The doubt after the target or the assertions changed: the answer of a witness does not apply to them. */
export const resetDoubt = ({ state, doubt }: RegionTally): { doubt?: RegionDoubt } =>
  doubt && state === 'failing' ? { doubt: { ...doubt, witness: null } } : {}

/** The doubt of a cell with its times mapped: slots, and times at which JetStream took a result. */
export function mapDoubtTimes(
  { doubt }: RegionTally,
  slot: (ms: number) => number,
  taken: (ms: number) => number,
): { doubt?: RegionDoubt } {
  if (!doubt) return {}
  const { sinceMs, askedForMs, witness, settledBy } = doubt
  return {
    doubt: {
      settledBy,
      // like a time, also when the clock was set ahead: the next slot must not count as a later check
      sinceMs: taken(sinceMs),
      askedForMs: askedForMs === null ? null : slot(askedForMs),
      witness: witness && {
        ...witness,
        takenAtMs: taken(witness.takenAtMs),
        check: { ...witness.check, scheduledAtMs: slot(witness.check.scheduledAtMs) },
      },
    },
  }
}
