import { type CheckError, type Outcome, Trigger } from '../../shared/result.ts'
import { decide } from './decide.ts'
import { newMonitorState } from './state.ts'
import type { Counted, Decision, MonitorState, Policy } from './types.ts'

/** A monitor that no probe checks: one voice says how it is (decisions 4.9). Times in ms. */
export type OneVoter = { id: string; configVersion: number; intervalMs: number; timeoutMs: number }

/** What that voice said once. */
export type Said = { atMs: number; outcome: Outcome; responseTimeMs: number; error: CheckError | null }

/** What the one voice of a monitor changes: thresholds of 1, and a vote that does not grow old. `state` null: it begins. */
export function decideAlone(voice: string, voter: OneVoter, state: MonitorState | null, said: Said): Decision {
  const before = state ?? newMonitorState(voter.id, voter.configVersion)
  return decide(before, countedOf(voice, voter, said), policyOf(voice, voter), said.atMs)
}

function policyOf(voice: string, { configVersion, intervalMs, timeoutMs }: OneVoter): Policy {
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

function countedOf(voice: string, { configVersion }: OneVoter, { atMs, ...said }: Said): Counted {
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
