import {
  type Connections,
  createDeadline,
  type DeadlineSignal,
  type HttpRequest,
  type HttpResponse,
  makeRoundTrip,
  type RoundTrip,
  sendRequest,
} from '../../../../shared/egress/index.ts'
import type { Egress } from '../../../../shared/egress/types.ts'

export type PostRequest = { url: string; headers: Record<string, string>; body: Buffer }

/**
 * Posts once through the egress guard, under one deadline that covers the body of the answer; redirects are not
 * followed and no more than `maxAnswerBytes` are read. `connections` are used again; without them one is made. Never
 * rejects for what the receiver does.
 */
export async function httpPost(
  posted: PostRequest,
  timeoutMs: number,
  maxAnswerBytes: number,
  egress: Egress,
  connections?: Connections,
): Promise<HttpResponse> {
  const deadline = createDeadline(timeoutMs)
  try {
    const options = { signal: deadline.signal, maxBodyBytes: maxAnswerBytes, followRedirects: false, connections }
    return await sendRequest({ method: 'POST', keepAlive: connections !== undefined, ...posted, ...options }, egress)
  } finally {
    deadline.clear()
  }
}

/**
 * Gets a document through the egress guard, redirects followed, each hop guarded, under one deadline. No more than
 * `maxAnswerBytes` are read. Never rejects for what the server does; throws a TypeError when `url` is not http(s).
 */
export function httpGet(
  url: string,
  headers: Record<string, string>,
  limits: { timeoutMs: number; maxAnswerBytes: number },
  egress: Egress,
): Promise<HttpResponse> {
  return httpRequest({ method: 'GET', url, headers, body: null, followRedirects: true }, limits, egress)
}

export type OutgoingRequest = Pick<
  HttpRequest,
  'method' | 'url' | 'headers' | 'body' | 'credentialHeaders' | 'followRedirects' | 'keepBody'
>

/** Any request as `get` sends its own. `calledOff` ends it before its deadline: an `internal` failure. */
export async function httpRequest(
  exchanged: OutgoingRequest,
  limits: { timeoutMs: number; maxAnswerBytes: number },
  egress: Egress,
  calledOff?: DeadlineSignal,
): Promise<HttpResponse> {
  const deadline = createDeadline(limits.timeoutMs)
  const signal = calledOff ? combineSignals(deadline.signal, calledOff) : deadline.signal
  try {
    return await sendRequest({ ...exchanged, signal, maxBodyBytes: limits.maxAnswerBytes }, egress)
  } finally {
    deadline.clear()
  }
}

function combineSignals(one: DeadlineSignal, other: DeadlineSignal): DeadlineSignal {
  return {
    get aborted() {
      return one.aborted || other.aborted
    },
    get reason() {
      return one.aborted ? one.reason : other.reason
    },
    addEventListener(type, listener) {
      for (const signal of [one, other]) signal.addEventListener(type, listener)
    },
    removeEventListener(type, listener) {
      for (const signal of [one, other]) signal.removeEventListener(type, listener)
    },
  }
}

/** Asks a server of questions and answers in plain text over TCP, such as WHOIS, under one deadline. Never rejects. */
export async function sendTextQuery(
  server: { host: string; port: number },
  question: string,
  limits: { timeoutMs: number; maxAnswerBytes: number },
  egress: Egress,
): Promise<RoundTrip> {
  const deadline = createDeadline(limits.timeoutMs)
  try {
    return await makeRoundTrip(server, question, { signal: deadline.signal, maxBytes: limits.maxAnswerBytes }, egress)
  } finally {
    deadline.clear()
  }
}
