import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Teardown } from './teardown.ts'
import { waitFor } from './wait.ts'

export type ReceivedRequest = {
  method: string
  path: string
  headers: IncomingHttpHeaders
  /** the received bytes, for signatures */
  rawBody: string
  /** the parsed body; undefined when it is not JSON */
  // biome-ignore lint/suspicious/noExplicitAny: tests read payloads of every event
  json: any
  atMs: number
}

/** One scripted answer: a status, or a fault. */
export type Answer =
  | number
  | { status: number; headers?: Record<string, string>; body?: string; delayMs?: number }
  | 'hang'
  | 'reset'
  /** 200 with an endless body */
  | 'flood'

export type Receiver = {
  url: string
  /** in the order of arrival */
  received: ReceivedRequest[]
  /** sets the answers of the next requests, in order; later ones get 200 */
  answerWith(...answers: Answer[]): void
  /** the answer without a script; a function is called each time */
  always(answer: Answer | ((received: ReceivedRequest) => Answer)): void
  /** waits for `count` requests (that `match`, if given) and returns them */
  waitFor(count: number, options?: { match?: (received: ReceivedRequest) => boolean }): Promise<ReceivedRequest[]>
  close(): Promise<void>
}

/** A webhook receiver on a free port of 127.0.0.1. */
export async function startReceiver(t: Teardown): Promise<Receiver> {
  const received: ReceivedRequest[] = []
  const script: Answer[] = []
  let defaultAnswer: Answer | ((received: ReceivedRequest) => Answer) = 200
  const server = createServer(async (request, response) => {
    const atMs = Date.now()
    response.on('error', () => {})
    const rawBody = (await buffer(request).catch(() => Buffer.alloc(0))).toString('utf8')
    const { method = '', url = '/', headers } = request
    const one = { method, path: url, headers, rawBody, json: parse(rawBody), atMs }
    received.push(one)
    act(script.shift() ?? (typeof defaultAnswer === 'function' ? defaultAnswer(one) : defaultAnswer), response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>(resolve => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  t.teardown(close)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answerWith: (...answers) => void script.push(...answers),
    always: answer => {
      defaultAnswer = answer
    },
    waitFor: (count, { match = () => true } = {}) =>
      waitFor(() => (received.filter(match).length >= count ? received.filter(match) : null), {
        label: `${count} webhooks`,
      }),
    close,
  }
}

function act(answer: Answer, response: ServerResponse): void {
  if (answer === 'hang') return
  if (answer === 'reset') return void (response.socket as Socket).resetAndDestroy()
  if (answer === 'flood') return void flood(response)
  const { status, headers = {}, body = '', delayMs = 0 } = typeof answer === 'number' ? { status: answer } : answer
  setTimeout(() => response.writeHead(status, headers).end(body), delayMs)
}

function flood(response: ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1024, 'x')
  const more = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', more)
  }
  response.writeHead(200)
  more()
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
