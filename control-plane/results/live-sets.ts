/** From which epoch on a probe was live, and in which it was no more; Infinity: it is. */
export type Span = { from: number; until: number }

/** A region's epoch in force, and who was live in which epochs, by probe. */
export type RegionLive = { epoch: number; spans: ReadonlyMap<string, readonly Span[]> }

/** By region. One that had no live probe yet is not in here. */
export type LiveSets = Map<string, RegionLive>

/** Why results are refused: their epoch was not given out yet, or their probe was not live in it. */
export type Refusal = 'refused_epoch' | 'refused_probe'

/** `spans`: of the probe that sent the result; looked up once a message. */
export function refusalOf(
  region: RegionLive | undefined,
  spans: readonly Span[] | undefined,
  epoch: number,
): Refusal | null {
  if (region === undefined || epoch > region.epoch) return 'refused_epoch'
  return spans !== undefined && isIn(spans, epoch) ? null : 'refused_probe'
}

/**
 * A probe that is live now may still send what it was given under an older epoch: an epoch reaches it with the last part of
 * its assignments. Which of its results are too old is the matter of the fences.
 */
function isIn(spans: readonly Span[], epoch: number): boolean {
  for (const { from, until } of spans) {
    if (until === Number.POSITIVE_INFINITY || (epoch >= from && epoch < until)) return true
  }
  return false
}

export const isLiveNow = (region: RegionLive | undefined, probeId: string): boolean =>
  region?.spans.get(probeId)?.some(({ until }) => until === Number.POSITIVE_INFINITY) ?? false

export function newestEpoch(results: readonly { epoch: number }[]): number {
  let newest = 0
  for (const { epoch } of results) if (epoch > newest) newest = epoch
  return newest
}

/** How long results of an unknown epoch are waited for, and after how long that may happen again. */
const WAIT_MS = 10_000
const REST_MS = 300_000
/** How long a process waits in `REST_MS` for all regions together: a reader that waits longer loses its partitions. */
const WAIT_FOR_ALL_MS = 20_000

/** Until when results may be waited for, by region, on the monotonic clock; and how much may be granted at `atMs`. */
export type Patience = { until: Map<string, number>; leftMs: number; atMs: number }

export const newPatience = (): Patience => ({
  until: new Map(),
  leftMs: WAIT_FOR_ALL_MS,
  atMs: Number.NEGATIVE_INFINITY,
})

/** Whether a reader may wait now. A probe that invents epochs holds up the verdict for a thirtieth of the time at most. */
export function mayWait(patience: Patience, region: string, nowMs: number): boolean {
  const untilMs = patience.until.get(region) ?? Number.NEGATIVE_INFINITY
  if (nowMs < untilMs) return true
  if (nowMs < untilMs + REST_MS) return false
  refill(patience, nowMs)
  const grantedMs = Math.min(WAIT_MS, patience.leftMs)
  if (grantedMs <= 0) return false
  patience.leftMs -= grantedMs
  patience.until.set(region, nowMs + grantedMs)
  return true
}

/** The epoch that was waited for is there: the rest of the wait can be granted to others. */
export function endWait(patience: Patience, region: string, nowMs: number): void {
  const untilMs = patience.until.get(region)
  if (untilMs === undefined) return
  patience.until.delete(region)
  refill(patience, nowMs)
  patience.leftMs = Math.min(WAIT_FOR_ALL_MS, patience.leftMs + Math.max(0, untilMs - nowMs))
}

function refill(patience: Patience, nowMs: number): void {
  const earnedMs = ((nowMs - patience.atMs) / REST_MS) * WAIT_FOR_ALL_MS
  patience.leftMs = Math.min(WAIT_FOR_ALL_MS, patience.leftMs + earnedMs)
  patience.atMs = nowMs
}
