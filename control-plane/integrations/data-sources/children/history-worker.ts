import { computePartition, lateSubject } from '../../../../shared/nats/subjects.ts'
import type { Nats } from '../../../foundation/platform/nats/client.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { setCoalescedTimeout } from '../../../foundation/platform/time/coalesced-timers.ts'
import { type LoopTools, startLoop } from '../../../foundation/platform/time/loop.ts'
import { DATA_SOURCE_REGION } from '../../../monitoring/monitors/types.ts'
import type { SourceFetch } from '../fetching/fetch-result.ts'
import type { SourceMetrics } from '../metrics.ts'
import { listActiveChildren } from './child-store.ts'
import { buildHistoryMessages } from './history.ts'
import { createHistoryBuffer } from './history-buffer.ts'

/** After the first fetch, so that others are sent with it, and after a round that failed. */
const SEND_DELAY_MS = 1_000
/** Without fetches there is nothing to send. */
const SEND_INTERVAL_MS = 60_000
const MAX_FETCHES_PER_SEND = 100

export type HistoryWriter = {
  /** Adds a fetch whose result was applied. */
  add(fetch: SourceFetch): void
  stop(): Promise<void>
}

/**
 * Publishes the results of data sources for the history. They are published as late results, which only the recorder
 * reads, because their verdicts are stored already. What cannot be published now is retried. While NATS is unreachable,
 * the oldest fetches are dropped and counted (history-buffer.ts).
 */
export function startHistoryWriter(
  context: LoopTools & { db: Db; nats: Nats },
  owner: string,
  sourceMetrics: SourceMetrics,
): HistoryWriter {
  const subject = lateSubject(computePartition(owner), DATA_SOURCE_REGION)
  const waiting = createHistoryBuffer()

  const send = async () => {
    while (waiting.size() > 0) {
      const some = waiting.listOldest(MAX_FETCHES_PER_SEND)
      const active = await listActiveChildren(context.db, [...new Set(some.map(({ source }) => source.id))])
      for (const message of buildHistoryMessages(some, active)) await context.nats.js.publish(subject, message)
      waiting.remove(some)
    }
  }

  const loop = startLoop('data-sources-history', SEND_INTERVAL_MS, context, send, { retryMs: SEND_DELAY_MS })
  let cancelWake = () => {}
  return {
    add(fetch) {
      if (waiting.size() === 0) cancelWake = setCoalescedTimeout(SEND_DELAY_MS, loop.wake)
      const dropped = waiting.add(fetch)
      if (dropped > 0) sourceMetrics.historyDropped.inc(dropped)
    },
    async stop() {
      cancelWake()
      await loop.stop()
      await send().catch(err =>
        context.log.warn({ err, fetches: waiting.size() }, 'could not write the history of data sources'),
      )
    },
  }
}
