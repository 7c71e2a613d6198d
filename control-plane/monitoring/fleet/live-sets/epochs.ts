import type { RegionEpoch } from '../assignments/assignment-table.ts'

/** Epochs are seconds since 2026-01-01. A clock can set them until 2064; the remaining 31-bit numbers last 30 years more. */
export const EPOCH_ORIGIN_S = Date.UTC(2026, 0, 1) / 1_000
export const MAX_CLOCK_EPOCH = 1_200_000_000

/** How far an epoch may be ahead of the time, in seconds: there may be many changes in a second, and wrong clocks. */
const MAX_EPOCH_AHEAD_S = 86_400

/** True when an epoch can have been assigned by `nowMs`. Any other was invented. */
export function isPlausibleEpoch(epoch: number, nowMs: number): boolean {
  return epoch <= Math.max(0, nowMs / 1_000 - EPOCH_ORIGIN_S) + MAX_EPOCH_AHEAD_S
}

/** A live set as it was sent to a probe or read by a process. `probeIds` null: only its epoch is known. */
export type KnownLiveSet = { region: string; epoch: number; probeIds: readonly string[] | null }

/**
 * True when the database has an older epoch than the known one, or another live set under the same epoch. Then it was
 * restored to an earlier state, or a standby without the last seconds was promoted.
 */
export function isDatabaseBehind(stored: RegionEpoch | undefined, known: KnownLiveSet): boolean {
  const epoch = stored?.epoch ?? 0
  if (epoch !== known.epoch || known.probeIds === null) return epoch < known.epoch
  const ids = new Set(stored?.probes.map(({ id }) => id))
  return ids.size !== known.probeIds.length || known.probeIds.some(id => !ids.has(id))
}
