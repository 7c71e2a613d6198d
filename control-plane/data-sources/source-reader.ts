import type { Egress, Signal } from '../../shared/egress/index.ts'
import { monotonicMs, now } from '../platform/clock.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Answered } from './document.ts'
import { examineAnswer } from './examine-reader.ts'
import type { Fetch, Result } from './fetch.ts'
import { fetchAnswer } from './fetch-reader.ts'
import { requestHeadersOf } from './request-headers.ts'
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

async function resultOf(egress: Egress, source: ClaimedSource, answer: Answered, signal: Signal): Promise<Result> {
  const examined = await examineAnswer(egress, source, answer, 'source', signal)
  if ('failure' in examined) return examined
  const { children, keys } = examined.evaluation
  return { children, keys }
}
