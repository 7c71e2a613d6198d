import { QuestionError } from '../../../../shared/process/thread.ts'
import { createThreadRunner } from '../../../foundation/platform/concurrency/worker-thread.ts'
import type { FeedType } from '../feeds/index.ts'
import { type FeedDocument, type ParsedFeed, parseFeedDocument } from './parsed-feed.ts'

/** Smaller documents are parsed on the main thread, in 25 ms of processor time with the worst document known. */
const MAX_INLINE_BYTES: Record<FeedType, number> = { statuspage: 32_768, json: 32_768, rss: 16_384, atom: 16_384 }
/** The worst document known of 2 MiB takes 1.2 s of processor time. */
const PARSE_TIMEOUT_MS = 10_000
const START_TIMEOUT_MS = 20_000
/** How long a document waits for its turn. */
const WAIT_TIMEOUT_MS = 20_000

/** Why a feed could not be read. It does not mean that the vendor has an outage. `isOurFault`: nor that the feed has an error. */
export type FeedFailure = { error: string; isOurFault: boolean }

type FeedParser = (
  document: FeedDocument,
  getTurnKey: () => string | Promise<string>,
) => Promise<Exclude<ParsedFeed, { error: string }> | FeedFailure>

/** The thread had no turn for a document. */
class FeedTurnError extends Error {}

/**
 * Creates a function that parses documents, the large ones in a worker thread that exists while there is work for it. Turn keys
 * take turns. `maxWaiting`: documents of one key.
 */
export function createFeedParser(limits: {
  maxWaiting: number
  timeoutMs?: number
  waitTimeoutMs?: number
}): FeedParser {
  const { maxWaiting, timeoutMs = PARSE_TIMEOUT_MS, waitTimeoutMs = WAIT_TIMEOUT_MS } = limits
  const parseInThread = createThreadRunner<FeedDocument, ParsedFeed>('feed-worker', import.meta.url, {
    ...{ timeoutMs, waitTimeoutMs, startTimeoutMs: START_TIMEOUT_MS },
    ...{ maxWaiting, memoryMb: 512 },
    refuse: why =>
      new FeedTurnError(why === 'full' ? 'too many feeds of the project are waiting' : 'other feeds take too long'),
  })
  return async (document, getTurnKey) => {
    const isSmall = document.body === null || document.body.length <= MAX_INLINE_BYTES[document.feed.type]
    try {
      const parsed = isSmall ? parseFeedDocument(document) : await parseInThread(await getTurnKey(), document)
      return 'error' in parsed ? { error: parsed.error, isOurFault: false } : parsed
    } catch (error) {
      if (error instanceof QuestionError) {
        return { error: `the feed cannot be parsed: ${error.message}`, isOurFault: false }
      }
      if (!(error instanceof FeedTurnError)) throw error
      return { error: `Picket could not parse the feed: ${error.message}`, isOurFault: true }
    }
  }
}
