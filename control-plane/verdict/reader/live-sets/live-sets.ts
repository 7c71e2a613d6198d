/** The first epoch in which a probe was live, and the first in which it was no longer; Infinity while it is live. */
export type EpochSpan = { from: number; until: number }

/** The current epoch of a region, and the epochs in which each probe was live. */
export type RegionLiveSet = { epoch: number; spans: ReadonlyMap<string, readonly EpochSpan[]> }

/** By region. A region that never had a live probe is missing. */
export type LiveSets = Map<string, RegionLiveSet>

/** Why results are refused: their epoch was not given out, or their probe was not live in it. */
export type ResultRefusal = 'refused_epoch' | 'refused_probe'

/** Why a result of this epoch is refused; null if it is accepted. `spans`: those of the probe that sent it. */
export function findRefusal(
  region: RegionLiveSet | undefined,
  spans: readonly EpochSpan[] | undefined,
  epoch: number,
): ResultRefusal | null {
  if (region === undefined || epoch > region.epoch) return 'refused_epoch'
  return spans !== undefined && containsEpoch(spans, epoch) ? null : 'refused_probe'
}

/**
 * A probe that is live now may send results of an older epoch, because a new epoch reaches it with the last part of its
 * assignments. The high-water marks decide which of its results are too old.
 */
function containsEpoch(spans: readonly EpochSpan[], epoch: number): boolean {
  for (const { from, until } of spans) {
    if (until === Number.POSITIVE_INFINITY || (epoch >= from && epoch < until)) return true
  }
  return false
}

export const isLiveNow = (region: RegionLiveSet | undefined, probeId: string): boolean =>
  region?.spans.get(probeId)?.some(({ until }) => until === Number.POSITIVE_INFINITY) ?? false

export function findNewestEpoch(results: readonly { epoch: number }[]): number {
  let newest = 0
  for (const { epoch } of results) if (epoch > newest) newest = epoch
  return newest
}

/** How long to wait for an unknown epoch of a region, and how long not to wait for the region after that. */
const EPOCH_WAIT_TIMEOUT_MS = 10_000
const EPOCH_WAIT_COOLDOWN_MS = 300_000
/**
 * How long a process waits in `EPOCH_WAIT_COOLDOWN_MS` in all, because a reader that waits too long loses its
 * partition.
 */
const MAX_TOTAL_WAIT_MS = 20_000

/** Until when to wait, by region, on the monotonic clock; and the remaining budget at `atMs`. */
type EpochWaits = { until: Map<string, number>; leftMs: number; atMs: number }

export const createEpochWaits = (): EpochWaits => ({
  until: new Map(),
  leftMs: MAX_TOTAL_WAIT_MS,
  atMs: Number.NEGATIVE_INFINITY,
})

/**
 * Whether a reader may wait now. A probe that sends invented epochs delays the verdict for at most 1/30 of the time.
 */
export function mayWaitForEpoch(waits: EpochWaits, region: string, nowMs: number): boolean {
  const untilMs = waits.until.get(region) ?? Number.NEGATIVE_INFINITY
  if (nowMs < untilMs) return true
  if (nowMs < untilMs + EPOCH_WAIT_COOLDOWN_MS) return false
  refill(waits, nowMs)
  const grantedMs = Math.min(EPOCH_WAIT_TIMEOUT_MS, waits.leftMs)
  if (grantedMs <= 0) return false
  waits.leftMs -= grantedMs
  waits.until.set(region, nowMs + grantedMs)
  return true
}

/** To be called when the epoch has arrived. Returns the rest of the wait to the budget. */
export function endEpochWait(waits: EpochWaits, region: string, nowMs: number): void {
  const untilMs = waits.until.get(region)
  if (untilMs === undefined) return
  waits.until.delete(region)
  refill(waits, nowMs)
  waits.leftMs = Math.min(MAX_TOTAL_WAIT_MS, waits.leftMs + Math.max(0, untilMs - nowMs))
}

function refill(waits: EpochWaits, nowMs: number): void {
  const earnedMs = ((nowMs - waits.atMs) / EPOCH_WAIT_COOLDOWN_MS) * MAX_TOTAL_WAIT_MS
  waits.leftMs = Math.min(MAX_TOTAL_WAIT_MS, waits.leftMs + earnedMs)
  waits.atMs = nowMs
}
