import type { Miss } from '../../canaries/figures-store.ts'
import type { Kind } from '../../canaries/schedule.ts'
import { humanDuration } from '../../events/duration.ts'
import type { Pace } from '../../monitors/guarantee.ts'
import type { Sign } from '../words.ts'
import { TRUST_DAYS, type Trust, tenths } from './trust.ts'

/** What visitors read of each kind of planned outage. */
export const KIND_WORDS: Record<Kind, [name: string, about: string]> = {
  refuse: ['Refused', 'The connection is cut at once.'],
  status: ['Error 503', 'The target answers at once with the status 503.'],
  wrong: ['Wrong answer', 'The target answers at once with the wrong content.'],
  slow: ['Slow', 'The target answers after 8 seconds with an error.'],
  hang: ['Hanging', 'The target gives no answer.'],
}

/** The page in one sentence. */
export function verdictOf({ compared, misses, rows }: Trust): { sign: Sign; sentence: string } {
  if (!rows.some(({ measured }) => measured)) {
    return { sign: 'u', sentence: 'No measurements yet. The guarantee below is computed from the settings.' }
  }
  const span = `of the last ${TRUST_DAYS} days`
  if (compared === 0) return { sign: 'u', sentence: `No planned outage ${span} was compared with the guarantee yet.` }
  if (misses === 0) {
    const all = compared === 1 ? 'The planned outage' : `All ${countText(compared)} planned outages`
    return { sign: 'o', sentence: `${all} ${span} ${compared === 1 ? 'was' : 'were'} reported within the guarantee.` }
  }
  const sentence = `${countText(misses)} of ${countText(compared)} planned outages ${span} ${misses === 1 ? 'was' : 'were'} not reported within the guarantee.`
  return { sign: 'd', sentence }
}

export const lateText = ({ lateSeconds }: Miss): string =>
  lateSeconds === null
    ? 'it was not noticed, or no alert arrived.'
    : `reported ${secondsText(lateSeconds)} seconds later than guaranteed.`

/** 37 as "37.0", 49.67 as "49.7", so that figures align in a column */
export const secondsText = (seconds: number): string => tenths(seconds).toFixed(1)

export const countText = (count: number): string => count.toLocaleString('en')

export function settingsText({ intervalMs, timeoutMs, retryCount }: Pace): string {
  const rechecks = retryCount === 1 ? '1 re-check' : `${retryCount} re-checks`
  return `a check every ${humanDuration(intervalMs)}, a timeout of ${humanDuration(timeoutMs)}, ${rechecks}`
}
