import { formatDuration } from '../../../alerting/events/duration.ts'
import type { MissedGuarantee } from '../../../insight/canaries/measurement/statistics-store.ts'
import type { FailureKind } from '../../../insight/canaries/schedule.ts'
import type { CheckPace } from '../../../monitoring/monitors/settings/guarantee.ts'
import type { StatusLetter } from '../../templates/labels.ts'
import { roundUpToTenth, TRUST_DAYS, type TrustReport } from './trust.ts'

/** Name and description of each kind of planned outage. */
export const FAILURE_LABELS: Record<FailureKind, [name: string, about: string]> = {
  refuse: ['Refused', 'The connection is closed immediately.'],
  status: ['Error 503', 'The target responds immediately with status 503.'],
  wrong: ['Wrong answer', 'The target responds immediately with wrong content.'],
  slow: ['Slow', 'The target responds after 8 seconds with an error.'],
  hang: ['Hanging', 'The target does not respond.'],
}

/** The page in one sentence. */
export function summarizeTrust({ compared, misses, rows }: TrustReport): { sign: StatusLetter; sentence: string } {
  if (!rows.some(({ measured }) => measured)) {
    return { sign: 'u', sentence: 'No measurements yet. The guarantee below is computed from the settings.' }
  }
  const span = `of the last ${TRUST_DAYS} days`
  if (compared === 0)
    return { sign: 'u', sentence: `No planned outage ${span} has been compared with the guarantee yet.` }
  if (misses === 0) {
    const all = compared === 1 ? 'The planned outage' : `All ${formatCount(compared)} planned outages`
    return { sign: 'o', sentence: `${all} ${span} ${compared === 1 ? 'was' : 'were'} reported within the guarantee.` }
  }
  const sentence = `${formatCount(misses)} of ${formatCount(compared)} planned outages ${span} ${misses === 1 ? 'was' : 'were'} not reported within the guarantee.`
  return { sign: 'd', sentence }
}

export const formatDelay = ({ lateSeconds }: MissedGuarantee): string =>
  lateSeconds === null
    ? 'it was not detected, or no alert arrived.'
    : `reported ${formatSeconds(lateSeconds)} seconds later than guaranteed.`

/** 37 as "37.0", 49.67 as "49.7", so that figures align in a column. */
export const formatSeconds = (seconds: number): string => roundUpToTenth(seconds).toFixed(1)

export const formatCount = (count: number): string => count.toLocaleString('en')

export function formatSettings({ intervalMs, timeoutMs, retryCount }: CheckPace): string {
  const rechecks = retryCount === 1 ? '1 re-check' : `${retryCount} re-checks`
  return `a check every ${formatDuration(intervalMs)}, a timeout of ${formatDuration(timeoutMs)}, ${rechecks}`
}
