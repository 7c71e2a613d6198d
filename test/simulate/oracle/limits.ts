import type { SettingsFrom } from './chronicle.ts'

/** What docs/design/verdict.md says of times, in ms. */

const START_MS = 1_000
export const DECISION_MS = 2_000
const WAITS_MS = [1_000, 3_000, 5_000]
const SILENCE_MS = 5_000

type Pace = Pick<SettingsFrom, 'intervalS' | 'timeoutMs' | 'retryCount'>

/** The timeout is at most the interval. */
const timeoutOf = ({ timeoutMs, intervalS }: Pace) => Math.min(timeoutMs, intervalS * 1000)

/** From the beginning of an outage until `down`, at the latest. A target that was slow before counts as `slow`. */
export function limitMs(kind: string, pace: Pace, wasSlow: boolean): number {
  const intervalMs = pace.intervalS * 1000
  const timeoutMs = timeoutOf(pace)
  let waitsMs = 0
  for (let n = 0; n < pace.retryCount; n++) waitsMs += WAITS_MS[Math.min(n, WAITS_MS.length - 1)]!
  const base = intervalMs + START_MS + DECISION_MS
  // a check that takes as long as the interval covers the next slot
  const coveredMs = timeoutMs + START_MS > intervalMs ? intervalMs : 0
  const slowMs = base + coveredMs + (pace.retryCount + 1) * timeoutMs + waitsMs
  if (kind === 'slow' || (wasSlow && kind === 'hanging')) return slowMs
  if (kind === 'hanging') return base + timeoutMs + pace.retryCount * Math.min(SILENCE_MS, timeoutMs / 3)
  return base + waitsMs + (wasSlow ? coveredMs : 0)
}

export const voteMs = (pace: Pace) => 3 * pace.intervalS * 1000 + timeoutOf(pace)

/** How long before a `down` an outage may lie that explains it. */
export const explainsDownMs = (pace: Pace) => Math.max(200_000, 6 * pace.intervalS * 1000 + 2 * timeoutOf(pace))
export const EXPLAINS_DEGRADED_MS = 700_000
