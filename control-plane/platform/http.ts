import {
  type Asked,
  ask,
  type Connections,
  createDeadline,
  type Egress,
  type HttpAnswer,
  type HttpRequest,
  request,
  type Signal,
} from '../../shared/egress/index.ts'

export type Posted = { url: string; headers: Record<string, string>; body: Buffer }

/**
 * Posts once through the egress guard, under one deadline that covers the body of the answer; redirects are not
 * followed and no more than `maxAnswerBytes` are read. `connections` are used again; without them one is made. Never
 * rejects for what the receiver does.
 */
export async function post(
  posted: Posted,
  timeoutMs: number,
  maxAnswerBytes: number,
  egress: Egress,
  connections?: Connections,
): Promise<HttpAnswer> {
  const deadline = createDeadline(timeoutMs)
  try {
    const options = { signal: deadline.signal, maxBodyBytes: maxAnswerBytes, followRedirects: false, connections }
    return await request({ method: 'POST', keepAlive: connections !== undefined, ...posted, ...options }, egress)
  } finally {
    deadline.clear()
  }
}

/**
 * Gets a document through the egress guard, redirects followed, each hop guarded, under one deadline. No more than
 * `maxAnswerBytes` are read. Never rejects for what the server does; throws a TypeError when `url` is not http(s).
 */
export function get(
  url: string,
  headers: Record<string, string>,
  limits: { timeoutMs: number; maxAnswerBytes: number },
  egress: Egress,
): Promise<HttpAnswer> {
  return exchange({ method: 'GET', url, headers, body: null, followRedirects: true }, limits, egress)
}

export type Exchanged = Pick<
  HttpRequest,
  'method' | 'url' | 'headers' | 'body' | 'credentialHeaders' | 'followRedirects' | 'keepBody'
>

/** Any request as `get` sends its own. `calledOff` ends it before its deadline: an `internal` failure. */
export async function exchange(
  exchanged: Exchanged,
  limits: { timeoutMs: number; maxAnswerBytes: number },
  egress: Egress,
  calledOff?: Signal,
): Promise<HttpAnswer> {
  const deadline = createDeadline(limits.timeoutMs)
  const signal = calledOff ? eitherOf(deadline.signal, calledOff) : deadline.signal
  try {
    return await request({ ...exchanged, signal, maxBodyBytes: limits.maxAnswerBytes }, egress)
  } finally {
    deadline.clear()
  }
}

function eitherOf(one: Signal, other: Signal): Signal {
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
export async function askText(
  server: { host: string; port: number },
  question: string,
  limits: { timeoutMs: number; maxAnswerBytes: number },
  egress: Egress,
): Promise<Asked> {
  const deadline = createDeadline(limits.timeoutMs)
  try {
    return await ask(server, question, { signal: deadline.signal, maxBytes: limits.maxAnswerBytes }, egress)
  } finally {
    deadline.clear()
  }
}
