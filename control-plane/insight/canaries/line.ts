import { computeNextStart } from './schedule.ts'
import type { Canary } from './store.ts'

/** A canary as the operator's command line lists it, with tabs between. */
export function formatCanary(canary: Canary, now: Date): string {
  const { region, monitorId, isPaused, status, lastStartedAt, lastOutcome, lastKind } = canary
  const state = isPaused ? 'paused' : (status ?? 'pending')
  const last = lastStartedAt
    ? `failed ${lastStartedAt.toISOString()} (${lastKind}): ${lastOutcome}`
    : 'not measured yet'
  return [region, monitorId, state, `fails ${computeNextStart(canary, now).toISOString()}`, last].join('\t')
}
