import { FailureSource, Outcome } from '../../../proto/gen/probe/v1/result.ts'
import type { SingleSourceMonitor, SingleSourceObservation } from '../core/rules/single-source.ts'
import type { HeartbeatMonitor, Ping } from './types.ts'

export function toSingleSourceMonitor({ id, configVersion, interval, grace }: HeartbeatMonitor): SingleSourceMonitor {
  return { id, configVersion, intervalMs: (interval ?? 0) * 1_000, timeoutMs: (grace ?? 0) * 1_000 }
}

/** A ping as the verdict counts it; null for a start or a log, which do not show whether the job succeeds. */
export function toObservation(ping: Ping): SingleSourceObservation | null {
  if (ping.kind === 'start' || ping.kind === 'log') return null
  return {
    atMs: ping.at.getTime(),
    outcome: ping.kind === 'success' ? Outcome.UP : Outcome.DOWN,
    responseTimeMs: ping.runMs ?? 0,
    error: toPingError(ping),
  }
}

/** The error of a failed or overdue ping; null for others. */
export function toPingError({ kind, exitCode, message }: Pick<Ping, 'kind' | 'exitCode' | 'message'>) {
  if (kind !== 'fail' && kind !== 'overdue') return null
  const code = kind === 'overdue' ? 'overdue' : exitCode === null ? 'reported_failure' : 'exit_code'
  return { source: FailureSource.TARGET, code, message: message ?? '' }
}
