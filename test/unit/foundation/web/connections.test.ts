import { connect, type Socket } from 'node:net'
import t from 'tap'
import { createServer } from '../../../../control-plane/foundation/web/server/app.ts'
import { createLog } from '../../../../shared/process/log.ts'
import type { Teardown } from '../../../support/teardown.ts'

/** More bytes than a test sends slowly. */
const LENGTH = 1_000_000

/** A limit that is reached in the test, and one that is not. */
const [SHORT_MS, LONG_MS] = [50, 200_000]

/** A server whose route reads bodies; with `x-key`, the caller is known. */
async function startServer(t: Teardown, limits: { bodyMs: number; closeMs: number }) {
  const app = createServer(createLog('test', 'silent'), [], { ...limits, minBytes: 1 })
  app.addHook('onRequest', async request => {
    if (request.headers['x-key'] !== undefined) request.caller = {} as typeof request.caller
  })
  app.post('/upload', { config: { bodyTimeoutMs: LONG_MS } }, async () => ({}))
  app.post('/small', async () => ({}))
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  return { app, port: (app.server.address() as { port: number }).port }
}

/** Sends a request with only the first byte of its body. `text`: everything that the server answers until it closes. */
async function sendHalf(t: Teardown, port: number, path: string, headers: string[] = []) {
  const socket: Socket = connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  const lines = [
    `POST ${path} HTTP/1.1`,
    'host: localhost',
    'content-type: application/json',
    `content-length: ${LENGTH}`,
  ]
  socket.write(`${[...lines, ...headers].join('\r\n')}\r\n\r\n{`)
  let text = ''
  socket.on('data', bytes => {
    text += bytes
  })
  const closed = new Promise<string>(resolve => {
    socket.on('error', () => {})
    socket.once('close', () => resolve(text))
  })
  return { socket, closed }
}

t.test('A body that is not complete in time ends its connection with 408', async t => {
  const { port } = await startServer(t, { bodyMs: SHORT_MS, closeMs: LONG_MS })
  for (const path of ['/small', '/upload', '/%zz', '/unknown']) {
    const { closed } = await sendHalf(t, port, path)
    t.match(await closed, /408/, path)
  }
})

t.test('A caller with a key has more time for a body on a route that allows it, as long as bytes arrive', async t => {
  const { port } = await startServer(t, { bodyMs: SHORT_MS, closeMs: LONG_MS })
  const small = await sendHalf(t, port, '/small', ['x-key: 1'])
  const silent = await sendHalf(t, port, '/upload', ['x-key: 1'])
  const slow = await sendHalf(t, port, '/upload', ['x-key: 1', 'x-slow: 1'])
  const sending = setInterval(() => slow.socket.write(' '), 1)
  t.teardown(() => clearInterval(sending))
  t.match(await small.closed, /408/)
  t.match(await silent.closed, /408/)
  clearInterval(sending)
  t.notOk(slow.socket.destroyed)
  slow.socket.end(Buffer.alloc(LENGTH, ' '))
  t.match(await slow.closed, /400/, 'the body has arrived; it is not JSON')
})

t.test('A body that is still being sent does not delay the end of the server', async t => {
  const { app, port } = await startServer(t, { bodyMs: LONG_MS, closeMs: SHORT_MS })
  const arrived = new Promise(resolve => app.server.once('request', resolve))
  const { closed } = await sendHalf(t, port, '/upload', ['x-key: 1'])
  await arrived
  await app.close()
  t.equal(await closed, '')
})
