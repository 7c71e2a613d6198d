import { STORED_PING_SUBJECT } from '../../../../shared/nats/subjects.ts'
import type { Log } from '../../../../shared/process/log.ts'
import type { Metrics } from '../../../../shared/process/metrics.ts'
import { initializeCounter } from '../../../../shared/process/zero-counters.ts'
import type { Nats } from '../../../foundation/platform/nats/client.ts'
import { isContentError } from '../../../foundation/platform/postgres/client.ts'
import { sleep, withTimeout } from '../../../foundation/platform/time/clock.ts'
import { ApiError, unavailable } from '../../../foundation/web/server/errors.ts'
import type { PingAnswer, PingArrival, PingOutcome } from '../types.ts'
import { encodeQueuedPing } from './queued-ping.ts'

/** A longer commit is not awaited, because the request of the job has its own timeout. */
const COMMIT_TIMEOUT_MS = 2_000
const PUBLISH_TIMEOUT_MS = 3_000
/** Most locks are held for milliseconds. */
const LOCK_RETRY_MS = 100

export type PingIntakeTools = { nats: Nats; log: Log; metrics: Metrics }

type Commit = (arrival: PingArrival) => Promise<PingAnswer>

/**
 * Stores a ping with `commit`. If PostgreSQL is unavailable or does not commit in time, or the monitor stays locked,
 * publishes it to the message stream, from where any process stores it (queued-ping-recorder.ts). Throws an ApiError
 * 503 if neither is possible; the ping is then not acknowledged.
 */
export function createPingIntake(tools: PingIntakeTools, commit: Commit) {
  const kept = tools.metrics.counter(
    'picket_heartbeat_pings_kept_total',
    'Heartbeat pings that were acknowledged without PostgreSQL, and pings that had to be refused',
    ['outcome'],
  )
  initializeCounter(kept, 'outcome', ['kept', 'refused'])
  return async (arrival: PingArrival): Promise<PingOutcome> => {
    const committing = commitWhenFree(commit, arrival).catch((error: Error) => error)
    const first = await withTimeout(committing, COMMIT_TIMEOUT_MS)
    if (typeof first === 'boolean') return first ? 'stored' : 'unknown'
    if (first instanceof Error && !canQueue(first)) throw first
    // from here on a late commit leaves this ping out, or has stored it under the same id
    arrival.isWithdrawn = true
    return queuePing(tools, arrival, first instanceof Error ? first : null, outcome => kept.inc({ outcome }))
  }
}

/**
 * Repeats the commit of a ping while its monitor is locked, until it is withdrawn. Newer pings may be stored meanwhile,
 * so from the second attempt on it is evaluated like a queued ping (ping-order.ts).
 */
async function commitWhenFree(commit: Commit, arrival: PingArrival): Promise<PingAnswer> {
  let answer = await commit(arrival)
  while (answer === 'locked' && !arrival.isWithdrawn) {
    arrival.isKept = true
    await sleep(LOCK_RETRY_MS)
    answer = await commit(arrival)
  }
  return answer
}

/** False for errors caused by this monitor, and for API errors other than 503. */
const canQueue = (error: Error) => !isContentError(error) && !(error instanceof ApiError && error.status !== 503)

async function queuePing(
  { nats, log }: PingIntakeTools,
  arrival: PingArrival,
  cause: Error | null,
  count: (outcome: 'kept' | 'refused') => void,
): Promise<PingOutcome> {
  try {
    // the id removes duplicates when the client library repeats the publish
    const options = { msgID: arrival.id, timeout: PUBLISH_TIMEOUT_MS }
    await nats.js.publish(STORED_PING_SUBJECT, encodeQueuedPing(arrival), options)
  } catch (error) {
    count('refused')
    log.warn({ err: cause ?? error, nats: (error as Error).message }, 'cannot store a ping')
    throw unavailable('the ping cannot be stored now; send it again')
  }
  count('kept')
  return 'kept'
}
