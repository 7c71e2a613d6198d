import { type CheckError, type Outcome, Trigger } from '../../../../shared/checks/result.ts'
import type { Decision, MonitorState, Policy, VerdictResult } from '../types.ts'
import { decide } from './decide.ts'
import { createMonitorState } from './state.ts'

/** A monitor that no probe checks: one voice says how it is (decisions 4.9). Times in ms. */
export type SingleSourceMonitor = { id: string; configVersion: number; intervalMs: number; timeoutMs: number }

/** What that voice said once. */
export type SingleSourceObservation = {
  atMs: number
  outcome: Outcome
  responseTimeMs: number
  error: CheckError | null
}

/** What the one voice of a monitor changes: thresholds of 1, and a vote that does not grow old. `state` null: it begins. */
export function decideSingleSource(
  voice: string,
  voter: SingleSourceMonitor,
  state: MonitorState | null,
  said: SingleSourceObservation,
): Decision {
  const before = state ?? createMonitorState(voter.id, voter.configVersion)
  return decide(before, toVerdictResult(voice, voter, said), buildPolicy(voice, voter), said.atMs)
}

function buildPolicy(voice: string, { configVersion, intervalMs, timeoutMs }: SingleSourceMonitor): Policy {
  return {
    configVersion,
    streaksSince: configVersion,
    regions: [voice],
    retryCount: 0,
    intervalMs,
    timeoutMs,
    expires: false,
  }
}

function toVerdictResult(
  voice: string,
  { configVersion }: SingleSourceMonitor,
  { atMs, ...said }: SingleSourceObservation,
): VerdictResult {
  return {
    region: voice,
    probeId: voice,
    configVersion,
    epoch: 1,
    scheduledAtMs: atMs,
    attempt: 1,
    trigger: Trigger.SLOT,
    statusCode: 0,
    ...said,
  }
}
