import { request } from 'node:http'

type EarlyAnswer = { status: number; headers: Record<string, string | string[] | undefined>; text: string }

/** Returns a server's answer to a request of which only the head is sent, so the body cannot have been read. */
export function answerBeforeBody(
  url: string,
  headers: Record<string, string>,
  contentLength = 1_000,
  method = 'POST',
): Promise<EarlyAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method,
      agent: false,
      headers: { ...headers, 'content-length': String(contentLength) },
    })
    sent.on('error', reject)
    sent.on('response', async answer => {
      let text = ''
      for await (const chunk of answer.setEncoding('utf8')) text += chunk
      sent.destroy()
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text })
    })
    sent.flushHeaders()
  })
}
