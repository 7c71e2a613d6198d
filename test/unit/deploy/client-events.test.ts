import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { followEvents } from '../../../deploy/client/index.ts'

type Respond = (response: ServerResponse) => void

/** Answers the connections in turn, and the last one again. `requests`: what was received. */
async function serve(t: Test, ...connections: Respond[]) {
  const requests: { url: string | undefined; last: string | undefined; key: string | undefined }[] = []
  const server = createServer((request: IncomingMessage, response) => {
    const { authorization, 'last-event-id': last } = request.headers
    requests.push({ url: request.url, last: last as string | undefined, key: authorization })
    connections[Math.min(requests.length, connections.length) - 1]!(response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { server, requests, options: { origin, apiKey: 'svc_a' } }
}

const START = 'retry: 1\n\nevent: server\ndata: {"build":"1"}\n\n'
/** A stream with these texts, which stays open. */
const stream =
  (...texts: string[]): Respond =>
  response => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    for (const text of [START, ...texts]) response.write(text)
  }
const ending =
  (...texts: string[]): Respond =>
  response => {
    stream(...texts)(response)
    response.end()
  }
const breaking =
  (...texts: string[]): Respond =>
  response => {
    stream(...texts)(response)
    setImmediate(() => response.destroy())
  }
const refuse =
  (status: number, body: string, headers: Record<string, string> = {}): Respond =>
  response =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)

/** The events up to the first one of this name that `matches`. */
async function readUntil(events: ReturnType<typeof followEvents>, isLast: (id: string | undefined) => boolean) {
  const received = []
  for await (const event of events) {
    received.push(event)
    if (isLast(event.id)) break
  }
  return received
}

t.test('followEvents continues after the last event when a connection ends or breaks', async t => {
  const { requests, options } = await serve(
    t,
    ending('event: board\nid: a\ndata: {"changes":null}\n\n'),
    breaking('event: incident\r\nid: b\r\ndata: {"ids":["1"]}\r\n\r\n'),
    stream('event: heart', 'beat\nid: c\ndata: {}\n\n'),
  )
  const events = await readUntil(followEvents({ ...options, since: 'r 1' }), id => id === 'c')
  t.same(
    events.filter(({ event }) => event !== 'server'),
    [
      { event: 'board', id: 'a', data: { changes: null } },
      { event: 'incident', id: 'b', data: { ids: ['1'] } },
      { event: 'heartbeat', id: 'c', data: {} },
    ],
  )
  t.same(events[0], { event: 'server', id: undefined, data: { build: '1' } })
  const url = '/api/v1/events?since=r+1'
  t.same(
    requests,
    [undefined, 'a', 'b'].map(last => ({ url, last, key: 'Bearer svc_a' })),
  )
})

t.test('followEvents asks again for an event that was damaged on the way', async t => {
  const { requests, options } = await serve(
    t,
    ending('event: board\nid: a\ndata: {"changes":null}\n\n', 'event: incident\nid: b\ndata: {"ids":["1\n\n'),
    stream('event: incident\nid: b\ndata: {"ids":["1"]}\n\n'),
  )
  const events = await readUntil(followEvents(options), id => id === 'b')
  t.same(events.at(-1), { event: 'incident', id: 'b', data: { ids: ['1'] } })
  t.same(
    requests.map(({ last }) => last),
    [undefined, 'a'],
  )
})

t.test('followEvents waits for Retry-After, and throws when the server refuses the request', async t => {
  const body = { error: { code: 'unauthorized', message: 'the API key is not valid', status: 401 } }
  const { requests, options } = await serve(
    t,
    refuse(429, '{}', { 'retry-after': '0' }),
    refuse(503, '', { 'retry-after': '0' }),
    ending(),
    refuse(401, JSON.stringify(body)),
  )
  await t.rejects(
    readUntil(followEvents(options), () => false),
    { ...body, message: 'the API key is not valid' },
  )
  t.equal(requests.length, 4)
  const page = await serve(t, response => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hi</h1>'))
  const refused = await readUntil(followEvents(page.options), () => false).catch(reason => reason)
  t.match(refused, { error: { code: 'internal_error', status: 200 } }, 'a page is not a stream')
})

t.test('followEvents connects again when nothing arrives, also before the answer', async t => {
  const { requests, options } = await serve(
    t,
    stream('event: heartbeat\nid: a\ndata: {}\n\n'),
    () => {},
    stream('event: heartbeat\nid: b\ndata: {}\n\n'),
  )
  const events = await readUntil(followEvents({ ...options, silenceMs: 1_000 }), id => id === 'b')
  t.equal(events.at(-1)?.id, 'b')
  t.same(
    requests.slice(0, 3).map(({ last }) => last),
    [undefined, 'a', 'a'],
  )
})

t.test('followEvents ends at once when the signal is aborted, and closes its connection', async t => {
  const waiting = new AbortController()
  const later = await serve(t, response => {
    refuse(503, '', { 'retry-after': '3600' })(response)
    response.on('close', () => setImmediate(() => waiting.abort()))
  })
  t.same(await readUntil(followEvents({ ...later.options, signal: waiting.signal }), () => false), [])
  t.equal(later.requests.length, 1)

  const reading = new AbortController()
  let closed: Promise<unknown> | undefined
  const open = await serve(t, response => {
    closed = once(response, 'close')
    stream()(response)
  })
  for await (const { event } of followEvents({ ...open.options, signal: reading.signal })) {
    t.equal(event, 'server')
    reading.abort()
  }
  await closed
  t.same(await readUntil(followEvents({ ...open.options, signal: reading.signal }), () => false), [])
  t.equal(open.requests.length, 1, 'an aborted signal opens no connection')
})

t.test('followEvents throws for an address that is not valid', async t => {
  await t.rejects(
    readUntil(followEvents({ origin: 'picket', apiKey: 'svc_a' }), () => false),
    TypeError,
  )
})
