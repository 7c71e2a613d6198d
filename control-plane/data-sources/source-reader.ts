import type { Egress, Signal } from '../../shared/egress/index.ts'
import { monotonicMs, now } from '../platform/clock.ts'
import type { Secrets } from '../platform/secrets.ts'
import { type Answered, readDocument } from './document.ts'
import { evaluate, urlsToAsk } from './evaluate.ts'
import type { Fetch, Result } from './fetch.ts'
import { askUrls, fetchAnswer } from './fetch-reader.ts'
import { requestHeadersOf } from './request-headers.ts'
import type { HttpAnswers } from './rule.ts'
import { openSource } from './sealed.ts'
import type { ClaimedSource } from './worker-store.ts'

/** Fetches a source that is due, asks the addresses that its document names, and answers what it says. Never rejects for what they do. */
export async function fetchSource(
  { egress, secrets }: { egress: Egress; secrets: Secrets },
  source: ClaimedSource,
  signal: Signal,
): Promise<Fetch> {
  const [startedAt, startedMs] = [now(), monotonicMs()]
  const headers = requestHeadersOf(source, openSource(source, secrets))
  const answer = await fetchAnswer(egress, source, headers, signal)
  const responseTimeMs = monotonicMs() - startedMs
  const result = 'failure' in answer ? answer : await resultOf(egress, source, answer, signal)
  return { source, result, startedAt, endedAt: now(), responseTimeMs }
}

/** While addresses are asked only the bytes are kept; what they hold can be twenty times as large. */
async function resultOf(egress: Egress, source: ClaimedSource, answer: Answered, signal: Signal): Promise<Result> {
  const urls = urlsOf(source, answer)
  const answers = urls.length === 0 ? NOBODY_ASKED : await askUrls(egress, urls, source.timeoutMs, signal)
  const read = readDocument(answer, source.rootPath)
  if ('failure' in read) return read
  const { children, keys } = evaluate(read.document, source.fields, now(), answers)
  return { children, keys }
}

const NOBODY_ASKED: HttpAnswers = new Map()

function urlsOf(source: ClaimedSource, answer: Answered): string[] {
  if (!source.fields.some(({ ruleType }) => ruleType === 'http_ok')) return []
  const read = readDocument(answer, source.rootPath)
  return 'failure' in read ? [] : urlsToAsk(read.document, source.fields)
}
