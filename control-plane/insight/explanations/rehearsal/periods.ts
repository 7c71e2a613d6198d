import type { StatusStep, StoredStatus, StoredStep } from './replay/types.ts'

/** An outage or a degradation. Times in ms. */
export type OutagePeriod = {
  fromMs: number
  /** null: it has not ended in the period */
  toMs: number | null
  /** from the first failure to the change of the status; null if it is not known */
  detectedAfterMs: number | null
}

export type OutagePeriods = { outages: OutagePeriod[]; degradations: OutagePeriod[] }

/** The status with which the steps after `beforeMs` begin. `steps`: in ascending order. */
export function findStatusBefore(steps: readonly StoredStep[], beforeMs: number): StoredStatus {
  const status: StoredStatus = { status: null, sinceMs: null, outageSinceMs: null, uncheckedSinceMs: null }
  for (const { atMs, to, kind, knownAtMs } of steps) {
    if (Math.max(atMs, to === null ? knownAtMs : atMs) >= beforeMs) break
    if (kind === 'unchecked') status.uncheckedSinceMs = atMs
    else Object.assign(status, { status: to, sinceMs: atMs, uncheckedSinceMs: null })
    if (to === 'down') status.outageSinceMs ??= atMs
    if (to === 'up' || kind === 'removed') status.outageSinceMs = null
  }
  return status
}

/**
 * The outages, from `down` until `up`, and the degradations outside of them that overlap the period, in order. One that
 * began before the period has its own beginning.
 */
export function summarizeOutages(
  { status, sinceMs, outageSinceMs }: StoredStatus,
  steps: readonly StatusStep[],
  { fromMs, toMs }: { fromMs: number; toMs: number },
): OutagePeriods {
  const periods: OutagePeriods = { outages: [], degradations: [] }
  let outage = outageSinceMs === null ? null : open(periods.outages, outageSinceMs, null)
  const isDegraded = status === 'degraded' && outage === null && sinceMs !== null
  let degradation = isDegraded ? open(periods.degradations, sinceMs, null) : null
  for (const { atMs, to, kind, firstFailureMs } of steps) {
    if (atMs >= toMs) break
    const isOutageOver = to === 'up' || kind === 'removed'
    if (degradation && to !== 'degraded') degradation.toMs = atMs
    if (to !== 'degraded') degradation = null
    if (outage && isOutageOver) {
      outage.toMs = atMs
      outage = null
    }
    if (to === 'down') outage ??= open(periods.outages, atMs, firstFailureMs)
    if (to === 'degraded' && !outage) degradation ??= open(periods.degradations, atMs, firstFailureMs)
  }
  const overlaps = (one: OutagePeriod) => one.fromMs < toMs && (one.toMs ?? toMs) > fromMs
  return { outages: periods.outages.filter(overlaps), degradations: periods.degradations.filter(overlaps) }
}

function open(periods: OutagePeriod[], fromMs: number, firstFailureMs: number | null): OutagePeriod {
  const one = {
    fromMs,
    toMs: null,
    detectedAfterMs: firstFailureMs === null ? null : Math.max(0, fromMs - firstFailureMs),
  }
  periods.push(one)
  return one
}

/**
 * How much later the outages of `after` begin than those of `before` that they overlap, on average, in ms; negative:
 * earlier. null if none of them began in the period in both.
 */
export function computeDelay(
  before: readonly OutagePeriod[],
  after: readonly OutagePeriod[],
  fromMs: number,
): number | null {
  const delays = after.flatMap(one => {
    const same = before.find(other => one.fromMs < (other.toMs ?? Infinity) && other.fromMs < (one.toMs ?? Infinity))
    return same && same.fromMs >= fromMs && one.fromMs >= fromMs ? [one.fromMs - same.fromMs] : []
  })
  return delays.length === 0 ? null : Math.round(delays.reduce((sum, ms) => sum + ms, 0) / delays.length)
}

/** When two lists of verdicts first differ, in ms; null if they are equal. Changes to no status are inputs, not verdicts. */
export function findDifference(
  stored: readonly StatusStep[],
  rehearsed: readonly StatusStep[],
  { fromMs, toMs }: { fromMs: number; toMs: number },
): number | null {
  const pick = (steps: readonly StatusStep[]) =>
    steps.filter(({ atMs, to }) => to !== null && atMs >= fromMs && atMs < toMs)
  const [one, other] = [pick(stored), pick(rehearsed)]
  for (let i = 0; i < Math.max(one.length, other.length); i++) {
    const [a, b] = [one[i], other[i]]
    if (a?.atMs === b?.atMs && a?.to === b?.to) continue
    return Math.min(a?.atMs ?? Number.POSITIVE_INFINITY, b?.atMs ?? Number.POSITIVE_INFINITY)
  }
  return null
}
