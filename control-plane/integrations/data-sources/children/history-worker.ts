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

/** After the first fetch, so that others are sent with it, and after a round that failed. */
const SEND_DELAY_MS = 1_000
/** Without fetches there is nothing to send. */
const SEND_INTERVAL_MS = 60_000
const MAX_FETCHES_PER_SEND = 100
/** While NATS is unreachable: about half an hour of a few hundred sources. Older fetches are dropped and counted. */
const MAX_BUFFERED_FETCHES = 10_000

export type HistoryWriter = {
  /** Adds a fetch whose result was applied. */
  add(fetch: SourceFetch): void
  stop(): Promise<void>
}

/**
 * Publishes the results of data sources for the history. They are published as late results, which only the recorder
 * reads, because their verdicts are stored already. What cannot be published now is retried.
 */
export function startHistoryWriter(
  context: LoopTools & { db: Db; nats: Nats },
  owner: string,
  sourceMetrics: SourceMetrics,
): HistoryWriter {
  const subject = lateSubject(computePartition(owner), DATA_SOURCE_REGION)
  const waiting: SourceFetch[] = []

  const send = async () => {
    while (waiting.length > 0) {
      const some = waiting.slice(0, MAX_FETCHES_PER_SEND)
      const active = await listActiveChildren(context.db, [...new Set(some.map(({ source }) => source.id))])
      for (const message of buildHistoryMessages(some, active)) await context.nats.js.publish(subject, message)
      const sent = new Set(some)
      waiting.splice(0, waiting.length, ...waiting.filter(fetch => !sent.has(fetch)))
    }
  }

  const loop = startLoop('data-sources-history', SEND_INTERVAL_MS, context, send, { retryMs: SEND_DELAY_MS })
  let cancelWake = () => {}
  return {
    add(fetch) {
      if (waiting.length === 0) cancelWake = setCoalescedTimeout(SEND_DELAY_MS, loop.wake)
      waiting.push(fetch)
      if (waiting.length <= MAX_BUFFERED_FETCHES) return
      waiting.shift()
      sourceMetrics.historyDropped.inc()
    },
    async stop() {
      cancelWake()
      await loop.stop()
      await send().catch(err =>
        context.log.warn({ err, fetches: waiting.length }, 'could not write the history of data sources'),
      )
    },
  }
}
