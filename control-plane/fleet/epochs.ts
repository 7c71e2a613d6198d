import type { RegionEpoch } from './book.ts'

/** Epochs are seconds since 2026-01-01, by a clock at most to 2064; 31 bits are left for 30 years more. */
export const EPOCHS_SINCE_S = Date.UTC(2026, 0, 1) / 1_000
export const EPOCH_BY_CLOCK_AT_MOST = 1_200_000_000

/** So far ahead of the time an epoch may be, in seconds: many changes in a second, and clocks that were wrong. */
const AHEAD_AT_MOST_S = 86_400

/** Whether an epoch can have been given out by `nowMs`. One that cannot was invented. */
export function isPossibleEpoch(epoch: number, nowMs: number): boolean {
  return epoch <= Math.max(0, nowMs / 1_000 - EPOCHS_SINCE_S) + AHEAD_AT_MOST_S
}

/** A live set as it was sent to a probe or read by a process; `probeIds` null: its number alone. */
export type KnownSet = { region: string; epoch: number; probeIds: readonly string[] | null }

/**
 * True when the database has an older live set than one that was given out already, or another one of the same number. Then it
 * was restored to an earlier state, or a standby was promoted that lacked the last seconds.
 */
export function isBehind(stored: RegionEpoch | undefined, known: KnownSet): boolean {
  const epoch = stored?.epoch ?? 0
  if (epoch !== known.epoch || known.probeIds === null) return epoch < known.epoch
  const ids = new Set(stored?.probes.map(({ id }) => id))
  return ids.size !== known.probeIds.length || known.probeIds.some(id => !ids.has(id))
}
