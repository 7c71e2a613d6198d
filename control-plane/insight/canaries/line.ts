import { computeNextStart } from './schedule.ts'
import type { Canary } from './store.ts'

/** A canary as a line of the operator's command line, separated by tabs. */
export function formatCanary(canary: Canary, now: Date): string {
  const { region, monitorId, isPaused, status, lastStartedAt, lastOutcome, lastKind } = canary
  const state = isPaused ? 'paused' : (status ?? 'pending')
  const last = lastStartedAt
    ? `failed ${lastStartedAt.toISOString()} (${lastKind}): ${lastOutcome}`
    : 'not measured yet'
  return [region, monitorId, state, `fails ${computeNextStart(canary, now).toISOString()}`, last].join('\t')
}
