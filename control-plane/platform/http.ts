import { createDeadline, type Egress, type HttpAnswer, request } from '../../shared/egress/index.ts'

export type Posted = { url: string; headers: Record<string, string>; body: Buffer }

/**
 * Posts once through the egress guard, under one deadline that covers the body of the answer; redirects are not
 * followed and no more than `maxAnswerBytes` are read. Never rejects for what the receiver does.
 */
export async function post(
  posted: Posted,
  timeoutMs: number,
  maxAnswerBytes: number,
  egress: Egress,
): Promise<HttpAnswer> {
  const deadline = createDeadline(timeoutMs)
  try {
    const options = { signal: deadline.signal, maxBodyBytes: maxAnswerBytes, followRedirects: false }
    return await request({ method: 'POST', ...posted, ...options }, egress)
  } finally {
    deadline.clear()
  }
}
