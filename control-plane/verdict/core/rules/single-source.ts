import { type CheckError, type Outcome, Trigger } from '../../../../shared/checks/result.ts'
import type { Decision, MonitorState, Policy, VerdictResult } from '../types.ts'
import { decide } from './decide.ts'
import { createMonitorState } from './state.ts'

/** A monitor that no probe checks, with one source (docs/design/verdict.md#single-source). Times in ms. */
export type SingleSourceMonitor = { id: string; configVersion: number; intervalMs: number; timeoutMs: number }

/** One observation of that source. */
export type SingleSourceObservation = {
  atMs: number
  outcome: Outcome
  responseTimeMs: number
  error: CheckError | null
  /** when a queued one arrived; missing for others */
  arrivedAtMs?: number
}

/** Decides an observation with thresholds of 1 and a vote that does not expire. `state` is null for the first one. */
export function decideSingleSource(
  source: string,
  monitor: SingleSourceMonitor,
  state: MonitorState | null,
  observation: SingleSourceObservation,
): Decision {
  const before = state ?? createMonitorState(monitor.id, monitor.configVersion)
  return decide(
    before,
    toVerdictResult(source, monitor, observation),
    buildSingleSourcePolicy(source, monitor),
    observation.atMs,
  )
}

/** The policy of a monitor whose only voter is `source`. */
export function buildSingleSourcePolicy(
  source: string,
  { configVersion, intervalMs, timeoutMs }: Omit<SingleSourceMonitor, 'id'>,
): Policy {
  return {
    configVersion,
    streaksSince: configVersion,
    regions: [source],
    retryCount: 0,
    intervalMs,
    timeoutMs,
    expires: false,
  }
}

function toVerdictResult(
  source: string,
  { configVersion }: SingleSourceMonitor,
  { atMs, ...observation }: SingleSourceObservation,
): VerdictResult {
  return {
    region: source,
    probeId: source,
    configVersion,
    epoch: 1,
    scheduledAtMs: atMs,
    attempt: 1,
    trigger: Trigger.SLOT,
    statusCode: 0,
    ...observation,
  }
}
