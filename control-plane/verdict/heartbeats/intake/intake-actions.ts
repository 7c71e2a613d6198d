import { STORED_PING_SUBJECT } from '../../../../shared/nats/subjects.ts'
import type { Log } from '../../../../shared/process/log.ts'
import type { Metrics } from '../../../../shared/process/metrics.ts'
import { initializeCounter } from '../../../../shared/process/zero-counters.ts'
import type { Nats } from '../../../foundation/platform/nats/client.ts'
import { withTimeout } from '../../../foundation/platform/time/clock.ts'
import { ApiError, unavailable } from '../../../foundation/web/server/errors.ts'
import { isMonitorError } from '../../core/decision-actions.ts'
import type { PingArrival, PingOutcome } from '../types.ts'
import { encodeQueuedPing } from './queued-ping.ts'

/** A commit that takes longer than this is not waited for: the job's request has limits of its own. */
const COMMIT_TIMEOUT_MS = 2_000
const PUBLISH_TIMEOUT_MS = 3_000

export type PingIntakeTools = { nats: Nats; log: Log; metrics: Metrics }

/**
 * Stores a ping with `commit`, or, when PostgreSQL cannot be reached or does not commit in time, keeps it in the message
 * stream, from where any process stores it (kept-worker.ts). Throws an ApiError 503 when neither is possible: then the
 * ping is not acknowledged.
 */
export function createPingIntake(tools: PingIntakeTools, commit: (arrival: PingArrival) => Promise<boolean>) {
  const kept = tools.metrics.counter(
    'picket_heartbeat_pings_kept_total',
    'Heartbeat pings that were acknowledged without PostgreSQL, and pings that had to be refused',
    ['outcome'],
  )
  initializeCounter(kept, 'outcome', ['kept', 'refused'])
  return async (arrival: PingArrival): Promise<PingOutcome> => {
    const committing = commit(arrival).catch((error: Error) => error)
    const first = await withTimeout(committing, COMMIT_TIMEOUT_MS)
    if (typeof first === 'boolean') return first ? 'stored' : 'unknown'
    if (first instanceof Error && !canQueue(first)) throw first
    // from here on the commit, if it still comes, leaves this ping out or has stored it under the same id
    arrival.isWithdrawn = true
    return queuePing(tools, arrival, first, outcome => kept.inc({ outcome }))
  }
}

/** Not what the database refused about this one monitor, and not an answer to the caller, except "unavailable". */
const canQueue = (error: Error) => !isMonitorError(error) && !(error instanceof ApiError && error.status !== 503)

async function queuePing(
  { nats, log }: PingIntakeTools,
  arrival: PingArrival,
  cause: Error | null,
  count: (outcome: 'kept' | 'refused') => void,
): Promise<PingOutcome> {
  try {
    // the id makes a publish that is repeated by the client library one message
    const options = { msgID: arrival.id, timeout: PUBLISH_TIMEOUT_MS }
    await nats.js.publish(STORED_PING_SUBJECT, encodeQueuedPing(arrival), options)
  } catch (error) {
    count('refused')
    log.warn({ err: cause ?? error, nats: (error as Error).message }, 'a ping could be stored nowhere')
    throw unavailable('this ping cannot be stored now; send it again')
  }
  count('kept')
  return 'kept'
}
