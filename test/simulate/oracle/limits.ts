import type { SettingsPeriod } from './chronicle.ts'

/** The time limits of docs/design/guarantee.md, in ms. */

const START_MS = 1_000
export const DECISION_MS = 2_000
const WAITS_MS = [1_000, 3_000, 5_000]
const SILENCE_MS = 5_000
const NOTICED_MS = 15_000

type Pace = Pick<SettingsPeriod, 'intervalS' | 'timeoutMs' | 'retryCount'>

/** The timeout is at most the interval. */
const getTimeoutMs = ({ timeoutMs, intervalS }: Pace) => Math.min(timeoutMs, intervalS * 1000)

function sumRecheckWaits({ retryCount }: Pace): number {
  let waitsMs = 0
  for (let n = 0; n < retryCount; n++) waitsMs += WAITS_MS[Math.min(n, WAITS_MS.length - 1)]!
  return waitsMs
}

/** The longest time from the beginning of an outage to `down`. A target that was slow before counts as `slow`. */
export function limitMs(kind: string, pace: Pace, wasSlow: boolean): number {
  const intervalMs = pace.intervalS * 1000
  const timeoutMs = getTimeoutMs(pace)
  const waitsMs = sumRecheckWaits(pace)
  const base = intervalMs + START_MS + DECISION_MS
  // a check that takes as long as the interval covers the next slot
  const coveredMs = timeoutMs + START_MS > intervalMs ? intervalMs : 0
  const slowMs = base + coveredMs + (pace.retryCount + 1) * timeoutMs + waitsMs
  if (kind === 'slow' || (wasSlow && kind === 'hanging')) return slowMs
  if (kind === 'hanging') return base + timeoutMs + pace.retryCount * Math.min(SILENCE_MS, timeoutMs / 3)
  return base + waitsMs + (wasSlow ? coveredMs : 0)
}

const RECHECK_IN_DOUBT_MS = 30_000

/** From the beginning of the attempt that finds the outage until the last attempt of its chain has failed. */
const chainMs = (kind: string, pace: Pace): number =>
  kind === 'hanging'
    ? getTimeoutMs(pace) + pace.retryCount * Math.min(SILENCE_MS, getTimeoutMs(pace) / 3)
    : sumRecheckWaits(pace)

/** The same while many hosts begin to fail together: a single region waits for one more check, several confirm each other. */
export function limitInDoubtMs(kind: string, pace: Pace, wasSlow: boolean, regions: number): number {
  const usualMs = limitMs(kind, pace, wasSlow)
  if (regions > 1 || kind === 'wrong' || kind === 'slow') return usualMs
  const intervalMs = pace.intervalS * 1000
  // the attempts of a slow target do not overlap
  const maxMs =
    wasSlow && kind === 'hanging'
      ? (pace.retryCount + 1) * getTimeoutMs(pace) + sumRecheckWaits(pace)
      : chainMs(kind, pace)
  const endsMs = START_MS + maxMs
  const nextSlotMs = (Math.floor(endsMs / intervalMs) + 1) * intervalMs
  const againMs = Math.min(nextSlotMs, endsMs + RECHECK_IN_DOUBT_MS) + START_MS
  return intervalMs + againMs + (kind === 'hanging' ? getTimeoutMs(pace) : 0) + DECISION_MS
}

/** How long after the beginning of a partial loss a probe may not have noticed that other hosts fail as well. */
export const unnoticedMs = (pace: Pace): number =>
  Math.max(chainMs('refused', pace), chainMs('hanging', pace)) + NOTICED_MS

/**
 * A witness is requested in each slot, and its result is valid for an interval + timeout + 10 s. The check by which the region
 * decides alone is one slot later, and fails after its timeout. Earlier requests do not affect a `down`.
 */
export const witnessMs = (pace: Pace): number => 2 * (pace.intervalS * 1000 + getTimeoutMs(pace))

/** A monitor without a counted check for 3 intervals + timeout must lose its status within this time. */
export const UNCHECKED_WITHIN_MS = 30_000

export const voteMs = (pace: Pace) => 3 * pace.intervalS * 1000 + getTimeoutMs(pace)

const FAILED_MS = 200_000
const votesEndMs = (pace: Pace) => Math.max(FAILED_MS, 6 * pace.intervalS * 1000 + 2 * getTimeoutMs(pace))

/**
 * How long before a `down` an outage may have ended that explains it. `from`: the status before; with one, only a failure makes
 * a monitor down, while older votes can decide its first status.
 */
export const explainsDownMs = (pace: Pace, from: string | null) => (from === null ? votesEndMs(pace) : FAILED_MS)
export const explainsDegradedMs = (pace: Pace) => Math.max(700_000, votesEndMs(pace))

/** A better attempt is re-checked after this time. */
const CONFIRMED_AFTER_MS = 5_000

/** The longest time from the end of an outage, which was reported, to `up`. `isSlow`: the working target is slow. */
export function recoveryMs(kind: string, pace: Pace, isSlow: boolean): number {
  const timeoutMs = getTimeoutMs(pace)
  // an attempt that began before the end of the outage still fails
  const lastFailureMs = kind === 'hanging' || kind === 'slow' ? timeoutMs : 0
  const answerMs = isSlow ? timeoutMs : 0
  const confirmedMs = pace.retryCount === 0 ? 0 : CONFIRMED_AFTER_MS + answerMs
  return lastFailureMs + pace.intervalS * 1000 + START_MS + answerMs + confirmedMs + DECISION_MS
}

/** The longest time that the loss of a failing majority adds, while single regions still fail: the status becomes `degraded`. */
export const degradedAfterDownMs = ({ intervalS }: Pace): number => 2 * intervalS * 1000
