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

type PostRequest = { url: string; headers: Record<string, string>; body: Buffer }

/**
 * Posts once through the egress guard, under one deadline that includes the body of the answer. Redirects are not followed,
 * and no more than `maxAnswerBytes` are read. `connections` are reused; without them a new one is opened. Never rejects
 * because of the receiver.
 */
export async function httpPost(
  request: PostRequest,
  timeoutMs: number,
  maxAnswerBytes: number,
  egress: Egress,
  connections?: Connections,
): Promise<HttpResponse> {
  const deadline = createDeadline(timeoutMs)
  try {
    const options = { signal: deadline.signal, maxBodyBytes: maxAnswerBytes, followRedirects: false, connections }
    return await sendRequest({ method: 'POST', keepAlive: connections !== undefined, ...request, ...options }, egress)
  } finally {
    deadline.clear()
  }
}

/**
 * Gets a document through the egress guard, under one deadline. Redirects are followed and each hop is checked. No more than
 * `maxAnswerBytes` are read. Never rejects because of the server; throws a TypeError when `url` is not http(s).
 */
export function httpGet(
  url: string,
  headers: Record<string, string>,
  limits: { timeoutMs: number; maxAnswerBytes: number },
  egress: Egress,
): Promise<HttpResponse> {
  return httpRequest({ method: 'GET', url, headers, body: null, followRedirects: true }, limits, egress)
}

type OutgoingRequest = Pick<
  HttpRequest,
  'method' | 'url' | 'headers' | 'body' | 'credentialHeaders' | 'followRedirects' | 'keepBody'
>

/** Sends any request as `httpGet` does. `cancelSignal` ends it before its deadline with an `internal` failure. */
export async function httpRequest(
  request: OutgoingRequest,
  limits: { timeoutMs: number; maxAnswerBytes: number },
  egress: Egress,
  cancelSignal?: DeadlineSignal,
): Promise<HttpResponse> {
  const deadline = createDeadline(limits.timeoutMs)
  const signal = cancelSignal ? combineSignals(deadline.signal, cancelSignal) : deadline.signal
  try {
    return await sendRequest({ ...request, signal, maxBodyBytes: limits.maxAnswerBytes }, egress)
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

/** Sends a query to a plain-text TCP server such as WHOIS, under one deadline. Never rejects. */
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
