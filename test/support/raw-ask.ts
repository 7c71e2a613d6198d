import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'

type Sent = { headers?: Record<string, string>; method?: string; body?: string }

/** A request with any `Host` and any spelling of the path, which `fetch` does not allow. */
export async function rawAsk(
  origin: string,
  path: string,
  { headers = {}, method = 'GET', body = '' }: Sent = {},
): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(origin)
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ host: hostname, port, path, method, headers }, resolve).on('error', reject).end(body)
  })
  return { status: answer.statusCode ?? 0, body: await text(answer) }
}
