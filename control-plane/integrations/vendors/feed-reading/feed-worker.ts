import { parentPort } from 'node:worker_threads'
import { answerQuestions } from '../../../../shared/process/thread.ts'
import { type FeedDocument, parseFeedDocument } from './parsed-feed.ts'

/** The thread that parses large feeds. A Buffer arrives as a plain Uint8Array. */
answerQuestions(parentPort, ({ body, ...document }: FeedDocument) =>
  parseFeedDocument({ ...document, body: body && Buffer.from(body) }),
)
