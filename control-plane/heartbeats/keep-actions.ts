import { fromZero } from '../../shared/from-zero.ts'
import type { Log } from '../../shared/log.ts'
import type { Metrics } from '../../shared/metrics.ts'
import { KEPT_PING_SUBJECT } from '../../shared/subjects.ts'
import { inTime } from '../platform/clock.ts'
import type { Nats } from '../platform/nats.ts'
import { isOneMonitors } from '../verdict/judge.ts'
import { ApiError, unavailable } from '../web/errors.ts'
import { encodeKept } from './kept-ping.ts'
import type { Arrival, Taking } from './types.ts'

/** A commit that takes longer than this is not waited for: the job's request has limits of its own. */
const COMMIT_WITHIN_MS = 2_000
const PUBLISH_WITHIN_MS = 3_000

export type KeepTools = { nats: Nats; log: Log; metrics: Metrics }

/**
 * Stores a ping with `commit`, or, when PostgreSQL cannot be reached or does not commit in time, keeps it in the message
 * stream, from where any process stores it (kept-worker.ts). Throws an ApiError 503 when neither is possible: then the
 * ping is not acknowledged.
 */
export function createTaking(tools: KeepTools, commit: (arrival: Arrival) => Promise<boolean>) {
  const kept = tools.metrics.counter(
    'picket_heartbeat_pings_kept_total',
    'Heartbeat pings that were acknowledged without PostgreSQL, and pings that had to be refused',
    ['outcome'],
  )
  fromZero(kept, 'outcome', ['kept', 'refused'])
  return async (arrival: Arrival): Promise<Taking> => {
    const committing = commit(arrival).catch((error: Error) => error)
    const first = await inTime(committing, COMMIT_WITHIN_MS)
    if (typeof first === 'boolean') return first ? 'stored' : 'unknown'
    if (first instanceof Error && !isOursToKeep(first)) throw first
    // from here on the commit, if it still comes, leaves this ping out or has stored it under the same id
    arrival.isWithdrawn = true
    return keep(tools, arrival, first, outcome => kept.inc({ outcome }))
  }
}

/** Not what the database refused about this one monitor, and not an answer to the caller, except "unavailable". */
const isOursToKeep = (error: Error) => !isOneMonitors(error) && !(error instanceof ApiError && error.status !== 503)

async function keep(
  { nats, log }: KeepTools,
  arrival: Arrival,
  cause: Error | null,
  count: (outcome: 'kept' | 'refused') => void,
): Promise<Taking> {
  try {
    // the id makes a publish that is repeated by the client library one message
    const options = { msgID: arrival.id, timeout: PUBLISH_WITHIN_MS }
    await nats.js.publish(KEPT_PING_SUBJECT, encodeKept(arrival), options)
  } catch (error) {
    count('refused')
    log.warn({ err: cause ?? error, nats: (error as Error).message }, 'a ping could be stored nowhere')
    throw unavailable('this ping cannot be stored now; send it again')
  }
  count('kept')
  return 'kept'
}
