import { createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Teardown } from './teardown.ts'

/** A request that the proxy does not answer. */
type HeldRequest = { text: string; isOpen: boolean }

type HeldClickhouse = {
  /** the given URL, through the proxy */
  url: string
  /** requests whose statement and parameters match are not answered from now on */
  hold(pattern: RegExp): void
  /** breaks the connections of held requests, and passes on all later ones */
  release(): void
  /** in the order of their arrival, also those that the client has given up */
  held: HeldRequest[]
  /** the largest number of held requests that were open at the same time since the last `hold` */
  maxOpen(): number
}

/** A ClickHouse behind a proxy that leaves some requests without an answer, as a server does whose disk stalls. */
export async function startHeldClickhouse(t: Teardown, target: string): Promise<HeldClickhouse> {
  const held: HeldRequest[] = []
  const responses = new Set<ServerResponse>()
  let pattern: RegExp | null = null
  let max = 0
  const open = () => held.filter(({ isOpen }) => isOpen).length
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => null)
    if (body === null) return
    const text = `${decodeURIComponent(request.url ?? '')} ${body.toString('latin1')}`
    if (!pattern?.test(text)) return forward(target, request, body, response)
    const one: HeldRequest = { text, isOpen: true }
    held.push(one)
    responses.add(response)
    max = Math.max(max, open())
    response.on('close', () => {
      one.isOpen = false
      responses.delete(response)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = new URL(target)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    hold(next) {
      pattern = next
      max = 0
    },
    release() {
      pattern = null
      for (const response of responses) response.destroy()
    },
    held,
    maxOpen: () => max,
  }
}

/** The embedded server accepts its own address as the host only. */
function forward(
  target: string,
  { url, method, headers }: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): void {
  const { hostname, port, host } = new URL(target)
  const options = { hostname, port, path: url, method, headers: { ...headers, host } }
  const sent = sendRequest(options, answer => {
    response.writeHead(answer.statusCode ?? 500, answer.headers)
    answer.pipe(response)
  })
  sent.on('error', () => response.destroy())
  sent.end(body)
}
