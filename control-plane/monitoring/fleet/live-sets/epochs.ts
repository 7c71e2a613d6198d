import type { RegionEpoch } from '../assignments/assignment-table.ts'

/** Epochs are seconds since 2026-01-01, by a clock at most to 2064; 31 bits are left for 30 years more. */
export const EPOCH_ORIGIN_S = Date.UTC(2026, 0, 1) / 1_000
export const MAX_CLOCK_EPOCH = 1_200_000_000

/** So far ahead of the time an epoch may be, in seconds: many changes in a second, and clocks that were wrong. */
const MAX_EPOCH_AHEAD_S = 86_400

/** Whether an epoch can have been given out by `nowMs`. One that cannot was invented. */
export function isPlausibleEpoch(epoch: number, nowMs: number): boolean {
  return epoch <= Math.max(0, nowMs / 1_000 - EPOCH_ORIGIN_S) + MAX_EPOCH_AHEAD_S
}

/** A live set as it was sent to a probe or read by a process; `probeIds` null: its number alone. */
export type KnownLiveSet = { region: string; epoch: number; probeIds: readonly string[] | null }

/**
 * True when the database has an older live set than one that was given out already, or another one of the same number. Then it
 * was restored to an earlier state, or a standby was promoted that lacked the last seconds.
 */
export function isDatabaseBehind(stored: RegionEpoch | undefined, known: KnownLiveSet): boolean {
  const epoch = stored?.epoch ?? 0
  if (epoch !== known.epoch || known.probeIds === null) return epoch < known.epoch
  const ids = new Set(stored?.probes.map(({ id }) => id))
  return ids.size !== known.probeIds.length || known.probeIds.some(id => !ids.has(id))
}
