import { type CheckError, FailureSource } from '../../../../shared/checks/result.ts'
import type { DeadlineSignal } from '../../../../shared/egress/index.ts'
import type { Egress } from '../../../../shared/egress/types.ts'
import { httpRequest } from '../../../foundation/platform/network/http-client.ts'
import {
  isKnownToDetector,
  type NetworkFault,
  type OwnFaultDetector,
} from '../../../foundation/platform/network/own-faults.ts'
import { monotonicMs, sleep } from '../../../foundation/platform/time/clock.ts'
import { buildFailure, type FailedFetch, MAX_DOCUMENT_BYTES, type RawDocument } from '../document/document.ts'
import type { UrlCheck, UrlChecks } from '../evaluation/rule.ts'
import { isOkStatus } from '../evaluation/rules.ts'
import type { StoredSource } from '../types.ts'

export type SourceRequest = Pick<StoredSource, 'url' | 'method' | 'body' | 'timeoutMs'>

/** Headers without secrets. They are also sent to another origin when a source redirects there. */
const SAFE_HEADERS = new Set(['accept', 'accept-language', 'content-type', 'user-agent'])

/**
 * Fetches a source through the egress guard and follows redirects, which the guard checks as well. Another origin gets
 * only headers without secrets. Returns the raw bytes, because many documents may be in memory at the same time. With
 * `ownFaults`, a failure of Picket's network or resolver is not the source's; `intervalMs` is that of the fetches. Never rejects.
 */
export async function requestDocument(
  egress: Egress,
  { url, method, body, timeoutMs }: SourceRequest,
  headers: Record<string, string>,
  {
    signal,
    ownFaults,
    intervalMs,
  }: { signal?: DeadlineSignal; ownFaults?: OwnFaultDetector; intervalMs?: number } = {},
): Promise<RawDocument | FailedFetch> {
  const credentialHeaders = Object.keys(headers).filter(name => !SAFE_HEADERS.has(name.toLowerCase()))
  const answer = await httpRequest(
    { method, url, headers, body: method === 'POST' ? (body ?? '') : null, credentialHeaders, followRedirects: true },
    { timeoutMs, maxAnswerBytes: MAX_DOCUMENT_BYTES },
    egress,
    signal,
  )
  const ownFault = ownFaults?.inspect(new URL(url).hostname, answer, monotonicMs(), intervalMs)
  if (answer.error) return toFailedFetch(answer.error, ownFault)
  const { statusCode } = answer
  if (statusCode === null || statusCode < 200 || statusCode > 299) {
    return buildFailure('http_status', `the source responded with status ${statusCode}`)
  }
  if (answer.truncated) return buildFailure('too_large', 'the document is larger than 5 MiB')
  return { body: answer.body, headers: answer.headers }
}

/** `ownFault`: what the detector found, null when it found no fault of Picket, undefined without a detector. */
function toFailedFetch({ source, code, message }: CheckError, ownFault?: NetworkFault | null): FailedFetch {
  const isJudged = ownFault !== undefined && isKnownToDetector(code)
  const isOurFault = isJudged ? ownFault !== null : source === FailureSource.INTERNAL || Boolean(ownFault)
  if (!isOurFault) return buildFailure(code, message)
  return { failure: { code, message: `Picket could not fetch the source: ${message}`, isOurFault: true } }
}

const MAX_CONCURRENT_URL_CHECKS = 20
const URL_CHECK_TIMEOUT_MS = 10_000
const CONFIRMATION_DELAY_MS = 1_000
/** For the connection to the host of a document. */
export const HOST_CHECK_TIMEOUT_MS = 5_000
/** For all URLs of one document together. The second 20 URLs can use their full time, too. */
export const URL_CHECKS_TIMEOUT_MS = 2 * URL_CHECK_TIMEOUT_MS + 1_000

/**
 * Checks whether URLs respond with a status from 200 to 399 (rule `http_ok`), without credentials and without following
 * redirects. A URL without an answer is requested again 1 s after the others, so that one lost connection does not decide.
 * `timeoutMs` is for each URL. `isOk` is null after an internal fault, when the time for all URLs ends
 * before that of the URL, and when the egress guard refuses the address. Never rejects.
 */
export async function checkUrls(
  egress: Egress,
  urls: readonly string[],
  { timeoutMs, totalTimeoutMs = URL_CHECKS_TIMEOUT_MS }: { timeoutMs: number; totalTimeoutMs?: number },
  signal?: DeadlineSignal,
): Promise<UrlChecks> {
  const answers = new Map<string, UrlCheck>()
  const urlTimeoutMs = Math.min(timeoutMs, URL_CHECK_TIMEOUT_MS)
  const endMs = monotonicMs() + totalTimeoutMs
  const checkAll = async (some: readonly string[], keep: (url: string, answer: UrlCheck) => void) => {
    const waiting = [...some]
    const work = async () => {
      for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
        const leftMs = endMs - monotonicMs()
        const hasTime = leftMs > 0 && !signal?.aborted
        keep(url, hasTime ? await checkUrl(egress, url, { urlTimeoutMs, leftMs }, signal) : NOT_CHECKED)
      }
    }
    await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT_URL_CHECKS, some.length) }, work))
  }
  const silent: string[] = []
  await checkAll(urls, (url, answer) => {
    answers.set(url, answer)
    if (answer.isOk === false && answer.isSilent) silent.push(url)
  })
  if (silent.length === 0) return answers
  await sleep(Math.min(CONFIRMATION_DELAY_MS, Math.max(0, endMs - monotonicMs())), signal)
  await checkAll(silent, (url, answer) => {
    if (answer !== NOT_CHECKED) answers.set(url, answer)
  })
  return answers
}

const NOT_CHECKED: UrlCheck = {
  isOk: null,
  message: 'could not be requested in time, because other URLs took too long',
}

/** `urlTimeoutMs`: the time of one URL; `leftMs`: the rest of the time for all URLs. */
async function checkUrl(
  egress: Egress,
  url: string,
  { urlTimeoutMs, leftMs }: { urlTimeoutMs: number; leftMs: number },
  signal?: DeadlineSignal,
): Promise<UrlCheck> {
  const { error, statusCode } = await httpRequest(
    { method: 'GET', url, headers: {}, body: null, followRedirects: false, keepBody: false },
    { timeoutMs: Math.min(urlTimeoutMs, leftMs), maxAnswerBytes: 1 },
    egress,
    signal,
  )
  // the status is enough; the body does not matter
  if (statusCode !== null) return { isOk: isOkStatus(statusCode), message: `responds with ${statusCode}` }
  if (leftMs < urlTimeoutMs && error?.code === 'timeout') return NOT_CHECKED
  const isTargetFault = error?.source === FailureSource.TARGET && error.code !== 'blocked_target'
  if (isTargetFault) return { isOk: false, message: `does not respond: ${error.message}`, isSilent: true }
  return { isOk: null, message: `could not be requested: ${error?.message}` }
}

/**
 * Connects to the host of a document once more when none of the URLs in it responded: the cause can be the network of
 * this process. Returns why the fetch failed when there is no connection either, otherwise null. Never rejects.
 */
export async function confirmSilence(
  egress: Egress,
  documentUrl: string,
  answers: UrlChecks,
  signal?: DeadlineSignal,
): Promise<FailedFetch | null> {
  const checks = [...answers.values()]
  const isAllSilent = checks.some(({ isSilent }) => isSilent) && checks.every(one => one.isSilent || one.isOk === null)
  if (!isAllSilent) return null
  const { error, timings } = await httpRequest(
    { method: 'HEAD', url: new URL('/', documentUrl).href, headers: {}, body: null, followRedirects: false },
    { timeoutMs: HOST_CHECK_TIMEOUT_MS, maxAnswerBytes: 1 },
    egress,
    signal,
  )
  const isConnected = error === null || timings.tlsUs > 0 || timings.firstByteUs > 0
  if (isConnected) return null
  const message = `none of the URLs in the document responds, and its host cannot be reached: ${error.message}`
  return toFailedFetch({ ...error, message })
}
