import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import t, { type Test } from 'tap'
import { createTargetFailure } from '../../../../shared/egress/failure.ts'
import { createConnections, createDeadline, createEgress, sendRequest } from '../../../../shared/egress/index.ts'
import type { Egress } from '../../../../shared/egress/types.ts'
import { createAuthority } from '../../../support/certificates.ts'
import { startRawServer } from '../../../support/raw-server.ts'
import { startTlsServer } from '../../../support/tls-server.ts'

const open = createEgress({ allow: ['127.0.0.0/8'] })

async function startServer(t: Test, handle: RequestListener = (_request, response) => response.end('ok')) {
  const sockets: Socket[] = []
  const server = createServer(handle)
  server.on('connection', socket => sockets.push(socket))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close().closeAllConnections())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, sockets }
}

/** Sends requests sequentially with kept connections. */
function createClient(t: Test, egress: Egress = open) {
  const connections = createConnections(8)
  t.teardown(() => connections.close())
  return async (url: string, maxBodyBytes = 1_000) => {
    const deadline = createDeadline(60_000)
    const options = { signal: deadline.signal, maxBodyBytes, followRedirects: false, keepAlive: true, connections }
    const answer = await sendRequest({ url, method: 'POST', headers: {}, body: 'hello', ...options }, egress)
    deadline.clear()
    return answer
  }
}

t.test('Requests to one origin share a connection', async t => {
  const { url, sockets } = await startServer(t)
  const post = createClient(t)
  for (let i = 0; i < 3; i++) t.match(await post(url), { statusCode: 200, error: null, resolvedIp: '127.0.0.1' })
  t.equal(sockets.length, 1)
  await Promise.all([post(url), post(url)])
  t.equal(sockets.length, 2, 'but never at the same time')
})

t.test('A TLS connection is negotiated once, and its certificate is kept', async t => {
  const authority = createAuthority(t)
  const port = await startTlsServer(t, authority.issue('127.0.0.1', -1, 30))
  const post = createClient(t, createEgress({ allow: ['127.0.0.0/8'], trust: [authority.ca] }))
  const first = await post(`https://127.0.0.1:${port}/`)
  const second = await post(`https://127.0.0.1:${port}/`)
  t.ok(first.timings.tlsUs > 0)
  t.equal(second.timings.tlsUs, 0)
  t.equal(second.certificate?.fingerprint256, first.certificate?.fingerprint256)
})

t.test('A server that closes, or sends more than is read, gets a new connection', async t => {
  const closing = await startServer(t, (_request, response) => response.setHeader('Connection', 'close').end('ok'))
  const talking = await startServer(t, (_request, response) => response.end('x'.repeat(100_000)))
  const post = createClient(t)
  for (const { url } of [closing, closing, talking, talking]) t.equal((await post(url)).statusCode, 200)
  t.same([closing.sockets.length, talking.sockets.length], [2, 2])
})

t.test('A connection that is closed between two requests does not fail the second one', async t => {
  const { url, sockets } = await startServer(t)
  const other = await startServer(t)
  const post = createClient(t)
  await post(url)
  sockets[0]!.destroy()
  await post(other.url) // by then the end has arrived
  t.match(await post(url), { statusCode: 200, error: null })
  t.equal(sockets.length, 2)
})

t.test('A connection that breaks during a request is a failure, and nothing is sent twice', async t => {
  const requestCounts: number[] = []
  const port = await startRawServer(t, socket => {
    const connection = requestCounts.push(0) - 1
    socket.on('data', () => {
      requestCounts[connection]!++
      if (connection === 0 && requestCounts[0] === 2) socket.resetAndDestroy()
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
  })
  const post = createClient(t)
  await post(`http://127.0.0.1:${port}/`)
  t.match(await post(`http://127.0.0.1:${port}/`), { error: { code: 'connection_reset' } })
  t.same(requestCounts, [2])
  t.match(await post(`http://127.0.0.1:${port}/`), { statusCode: 200, error: null })
  t.same(requestCounts, [2, 1])
})

t.test('The guard checks the peer of an open connection before each request', async t => {
  let isForbidden = false
  const { url, sockets } = await startServer(t)
  const assertAllowed = (address: string) => {
    if (isForbidden) throw createTargetFailure('blocked_target', `${address} is forbidden now`)
  }
  const post = createClient(t, { ...open, assertAllowed })
  await post(url)
  isForbidden = true
  t.match(await post(url), { statusCode: null, error: { code: 'blocked_target' } })
  t.equal(sockets.length, 1)
})
