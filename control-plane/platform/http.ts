import {
  type Asked,
  ask,
  type Connections,
  createDeadline,
  type Egress,
  type HttpAnswer,
  request,
} from '../../shared/egress/index.ts'

export type Posted = { url: string; headers: Record<string, string>; body: Buffer }

/**
 * Posts once through the egress guard, under one deadline that covers the body of the answer; redirects are not
 * followed and no more than `maxAnswerBytes` are read. `connections` are used again. Never
 * rejects for what the receiver does.
 */
export async function post(
  posted: Posted,
  timeoutMs: number,
  maxAnswerBytes: number,
  egress: Egress,
  connections: Connections,
): Promise<HttpAnswer> {
  const deadline = createDeadline(timeoutMs)
  try {
    const options = { signal: deadline.signal, maxBodyBytes: maxAnswerBytes, followRedirects: false, connections }
    return await request({ method: 'POST', keepAlive: true, ...posted, ...options }, egress)
  } finally {
    deadline.clear()
  }
}

/**
 * Gets a document through the egress guard, redirects followed, each hop guarded, under one deadline. No more than
 * `maxAnswerBytes` are read. Never rejects for what the server does; throws a TypeError when `url` is not http(s).
 */
export async function get(
  url: string,
  headers: Record<string, string>,
  limits: { timeoutMs: number; maxAnswerBytes: number },
  egress: Egress,
): Promise<HttpAnswer> {
  const deadline = createDeadline(limits.timeoutMs)
  try {
    const options = { signal: deadline.signal, maxBodyBytes: limits.maxAnswerBytes, followRedirects: true }
    return await request({ method: 'GET', url, headers, body: null, ...options }, egress)
  } finally {
    deadline.clear()
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
