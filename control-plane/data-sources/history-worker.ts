import { lateSubject, partitionOf } from '../../shared/subjects.ts'
import { DATA_SOURCE_REGION } from '../monitors/types.ts'
import { type LoopTools, startLoop } from '../platform/loop.ts'
import type { Nats } from '../platform/nats.ts'
import type { Db } from '../platform/postgres.ts'
import { livingOf } from './children-store.ts'
import type { Fetch } from './fetch.ts'
import { historyOf } from './history.ts'
import type { SourceMeters } from './meters.ts'

const EVERY_MS = 1_000
const MOST_AT_ONCE = 100
/** While NATS is away; half an hour of a few hundred sources. What is older is dropped and counted. */
const MOST_KEPT = 10_000

export type History = {
  /** A fetch that was taken in: the history shall have it. */
  add(fetch: Fetch): void
  stop(): Promise<void>
}

/**
 * Sends what data sources said to the recorder of the history, as late results: those it alone reads, so that a
 * verdict, which has been passed already, is not passed again. What cannot be sent now is sent again.
 */
export function startHistory(
  context: LoopTools & { db: Db; nats: Nats },
  owner: string,
  meters: SourceMeters,
): History {
  const subject = lateSubject(partitionOf(owner), DATA_SOURCE_REGION)
  const waiting: Fetch[] = []

  const send = async () => {
    while (waiting.length > 0) {
      const some = waiting.slice(0, MOST_AT_ONCE)
      const living = await livingOf(context.db, [...new Set(some.map(({ source }) => source.id))])
      for (const message of historyOf(some, living)) await context.nats.js.publish(subject, message)
      const sent = new Set(some)
      waiting.splice(0, waiting.length, ...waiting.filter(fetch => !sent.has(fetch)))
    }
  }

  const loop = startLoop('data-sources-history', EVERY_MS, context, send)
  return {
    add(fetch) {
      waiting.push(fetch)
      if (waiting.length <= MOST_KEPT) return
      waiting.shift()
      meters.historyDropped.inc()
    },
    async stop() {
      await loop.stop()
      await send().catch(err => context.log.warn({ err, fetches: waiting.length }, 'history was not written'))
    },
  }
}
