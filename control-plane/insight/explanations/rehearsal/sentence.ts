import { formatDuration } from '../../../alerting/events/duration.ts'
import type { OutagePeriods } from './periods.ts'

/** A shorter delay is shown as none. */
const MIN_DELAY_MS = 500

/** What would have been different, as one or two sentences. `delayMs`: from `computeDelay`. */
export function formatOutcome(before: OutagePeriods, after: OutagePeriods | null, delayMs: number | null): string {
  if (after === null) return 'These settings cannot be rehearsed for this period.'
  const outages = compare(before.outages.length, after.outages.length, 'outage')
  const ms = delayMs ?? 0
  const isMoved = Math.abs(ms) >= MIN_DELAY_MS
  const delay = isMoved ? `, detected ${formatDuration(Math.abs(ms))} ${ms > 0 ? 'later' : 'earlier'}` : ''
  const isSame = before.degradations.length === after.degradations.length
  const degradations = isSame
    ? ''
    : ` ${compare(before.degradations.length, after.degradations.length, 'degradation')}.`
  return `${outages}${delay}.${degradations}`
}

function compare(before: number, after: number, noun: string): string {
  if (before === after) return `${count(before, noun)}, as before`
  return `${count(before, noun)} ${before === 1 ? 'becomes' : 'become'} ${after === 0 ? 'none' : after}`
}

const count = (n: number, noun: string) => `${n === 0 ? 'No' : n} ${noun}${n === 1 ? '' : 's'}`
