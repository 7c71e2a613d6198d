/** From which epoch on a probe was live, and in which it was no more; Infinity: it is. */
export type EpochSpan = { from: number; until: number }

/** A region's epoch in force, and who was live in which epochs, by probe. */
export type RegionLiveSet = { epoch: number; spans: ReadonlyMap<string, readonly EpochSpan[]> }

/** By region. One that had no live probe yet is not in here. */
export type LiveSets = Map<string, RegionLiveSet>

/** Why results are refused: their epoch was not given out yet, or their probe was not live in it. */
export type ResultRefusal = 'refused_epoch' | 'refused_probe'

/** `spans`: of the probe that sent the result; looked up once a message. */
export function findRefusal(
  region: RegionLiveSet | undefined,
  spans: readonly EpochSpan[] | undefined,
  epoch: number,
): ResultRefusal | null {
  if (region === undefined || epoch > region.epoch) return 'refused_epoch'
  return spans !== undefined && containsEpoch(spans, epoch) ? null : 'refused_probe'
}

/**
 * A probe that is live now may still send what it was given under an older epoch: an epoch reaches it with the last part of
 * its assignments. Which of its results are too old is the matter of the fences.
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

/** How long results of an unknown epoch are waited for, and after how long that may happen again. */
const EPOCH_WAIT_TIMEOUT_MS = 10_000
const EPOCH_WAIT_COOLDOWN_MS = 300_000
/** How long a process waits in `REST_MS` for all regions together: a reader that waits longer loses its partitions. */
const MAX_TOTAL_WAIT_MS = 20_000

/** Until when results may be waited for, by region, on the monotonic clock; and how much may be granted at `atMs`. */
export type EpochWaits = { until: Map<string, number>; leftMs: number; atMs: number }

export const createEpochWaits = (): EpochWaits => ({
  until: new Map(),
  leftMs: MAX_TOTAL_WAIT_MS,
  atMs: Number.NEGATIVE_INFINITY,
})

/** Whether a reader may wait now. A probe that invents epochs holds up the verdict for a thirtieth of the time at most. */
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

/** The epoch that was waited for is there: the rest of the wait can be granted to others. */
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
