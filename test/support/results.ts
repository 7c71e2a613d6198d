import type { MessageArrival } from '../../control-plane/insight/analytics/recording/result-line.ts'
import { NO_DETAILS, Outcome, type Result, Trigger } from '../../shared/checks/result.ts'

/** A result of a check that found its target up, at the slot `scheduledAtMs` (ms since 1970). */
export function createResult(monitorId: string, scheduledAtMs: number, changes: Partial<Result> = {}): Result {
  return {
    monitorId,
    configVersion: 1,
    epoch: 1,
    scheduledAtMs,
    startedAtMs: scheduledAtMs,
    attempt: 1,
    outcome: Outcome.UP,
    trigger: Trigger.SLOT,
    runId: '',
    totalUs: 1_000,
    timings: undefined,
    statusCode: 200,
    error: undefined,
    failedAssertions: [],
    resolvedIp: '192.0.2.1',
    ...NO_DETAILS,
    ...changes,
  }
}

/** The arrival of a result in JetStream immediately after its check. */
export const buildArrival = ({ startedAtMs, totalUs }: Result, sequence = 1): MessageArrival => ({
  takenAtMs: startedAtMs + Math.round(totalUs / 1_000),
  sequence,
  isLate: false,
})
