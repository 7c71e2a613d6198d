import type { Egress, Signal } from '../../shared/egress/index.ts'
import { type CheckError, FailureSource } from '../../shared/result.ts'
import { monotonicMs } from '../platform/clock.ts'
import { exchange } from '../platform/http.ts'
import { type Answered, type Failed, failed, MOST_DOCUMENT_BYTES } from './document.ts'
import type { HttpAnswer, HttpAnswers } from './rule.ts'
import { isOkStatus } from './rules.ts'
import type { StoredSource } from './types.ts'

export type Asked = Pick<StoredSource, 'url' | 'method' | 'body' | 'timeoutMs'>

/** Headers that tell no secret: another origin may see them when a source redirects there. */
const HARMLESS = new Set(['accept', 'accept-language', 'content-type', 'user-agent'])

/**
 * Fetches from a source through the egress guard, redirects included, each of them guarded. Of `headers`, another
 * origin sees only what tells no secret. Answers what `readDocument` reads: many documents at once are bytes, and not
 * the objects that they hold. Never rejects.
 */
export async function fetchAnswer(
  egress: Egress,
  { url, method, body, timeoutMs }: Asked,
  headers: Record<string, string>,
  signal?: Signal,
): Promise<Answered | Failed> {
  const credentialHeaders = Object.keys(headers).filter(name => !HARMLESS.has(name.toLowerCase()))
  const answer = await exchange(
    { method, url, headers, body: method === 'POST' ? (body ?? '') : null, credentialHeaders, followRedirects: true },
    { timeoutMs, maxAnswerBytes: MOST_DOCUMENT_BYTES },
    egress,
    signal,
  )
  if (answer.error) return failureOf(answer.error)
  const { statusCode } = answer
  if (statusCode === null || statusCode < 200 || statusCode > 299) {
    return failed('http_status', `the source answers with status ${statusCode}`)
  }
  if (answer.truncated) return failed('too_large', 'the document is larger than 5 MiB')
  return { body: answer.body, headers: answer.headers }
}

function failureOf({ source, code, message }: CheckError): Failed {
  if (source !== FailureSource.INTERNAL) return failed(code, message)
  return { failure: { code, message: `Picket could not fetch the source: ${message}`, isOurFault: true } }
}

const ASKED_AT_ONCE = 20
const LONGEST_ANSWER_MS = 10_000
/** For all addresses of one document together: a source does not wait longer for its values. */
export const ASKING_LIMIT_MS = 20_000

/**
 * Asks whether URLs answer with a status of 200 to 399 (the rule `http_ok`), without credentials; a redirect is an
 * answer and is not followed. `isOk` null: our own fault, no time was left to ask, or the egress guard refuses the
 * address: that says nothing of whoever stands there. Never rejects.
 */
export async function askUrls(
  egress: Egress,
  urls: readonly string[],
  timeoutMs: number,
  signal?: Signal,
): Promise<HttpAnswers> {
  const answers = new Map<string, HttpAnswer>()
  const endMs = monotonicMs() + ASKING_LIMIT_MS
  const waiting = [...urls]
  const work = async () => {
    for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
      const leftMs = endMs - monotonicMs()
      const limitMs = Math.min(timeoutMs, LONGEST_ANSWER_MS, leftMs)
      const isAsked = leftMs > 0 && !signal?.aborted
      answers.set(url, isAsked ? await askUrl(egress, url, limitMs, signal) : NOT_ASKED)
    }
  }
  await Promise.all(Array.from({ length: Math.min(ASKED_AT_ONCE, urls.length) }, work))
  return answers
}

const NOT_ASKED: HttpAnswer = { isOk: null, said: 'was not asked: the others took too long' }

async function askUrl(egress: Egress, url: string, timeoutMs: number, signal?: Signal): Promise<HttpAnswer> {
  const { error, statusCode } = await exchange(
    { method: 'GET', url, headers: {}, body: null, followRedirects: false, keepBody: false },
    { timeoutMs, maxAnswerBytes: 1 },
    egress,
    signal,
  )
  // with the status its answer is complete: what becomes of the body is no matter
  if (statusCode !== null) return { isOk: isOkStatus(statusCode), said: `answers ${statusCode}` }
  const isTheirs = error?.source === FailureSource.TARGET && error.code !== 'blocked_target'
  if (isTheirs) return { isOk: false, said: `does not answer: ${error.message}` }
  return { isOk: null, said: `could not be asked: ${error?.message}` }
}
