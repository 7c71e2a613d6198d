import { FailureSource, Outcome, Trigger } from '../../proto/gen/probe/v1/result.ts'
import { HEARTBEAT_REGION } from '../monitors/types.ts'
import type { Counted, Policy } from '../verdict/types.ts'
import type { HeartbeatMonitor, Ping } from './types.ts'

/** One voter, thresholds of 1, and a vote that does not grow old (decisions 4.9). */
export function policyOf({ configVersion, interval, grace }: HeartbeatMonitor): Policy {
  return {
    configVersion,
    regions: [HEARTBEAT_REGION],
    retryCount: 0,
    intervalMs: (interval ?? 0) * 1_000,
    timeoutMs: (grace ?? 0) * 1_000,
    expires: false,
  }
}

/** A ping as the verdict counts it; null for a start or a log, which say nothing of how the job does. */
export function countedOf(ping: Ping, { configVersion }: HeartbeatMonitor): Counted | null {
  if (ping.kind === 'start' || ping.kind === 'log') return null
  return {
    region: HEARTBEAT_REGION,
    probeId: HEARTBEAT_REGION,
    configVersion,
    epoch: 1,
    scheduledAtMs: ping.at.getTime(),
    attempt: 1,
    outcome: ping.kind === 'success' ? Outcome.UP : Outcome.DOWN,
    trigger: Trigger.SLOT,
    statusCode: 0,
    responseTimeMs: ping.runMs ?? 0,
    error: errorOf(ping),
  }
}

/** What a failed ping says is the job's own fault; null for the others. */
export function errorOf({ kind, exitCode, message }: Pick<Ping, 'kind' | 'exitCode' | 'message'>) {
  if (kind !== 'fail' && kind !== 'overdue') return null
  const code = kind === 'overdue' ? 'overdue' : exitCode === null ? 'reported_failure' : 'exit_code'
  return { source: FailureSource.TARGET, code, message: message ?? '' }
}
