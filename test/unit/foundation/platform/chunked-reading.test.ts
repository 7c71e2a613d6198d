import { once } from 'node:events'
import { connect } from 'node:net'
import { Duplex } from 'node:stream'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { readInChunks } from '../../../../control-plane/foundation/platform/postgres/chunked-reading.ts'

const BYTES = 16 * 1024 * 1024
/** Keeps sending while this thread reads, as PostgreSQL does. */
const SENDER = `
  const { parentPort } = require('node:worker_threads')
  const server = require('node:net').createServer(socket => socket.end(Buffer.alloc(${BYTES}, 'x')))
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`

t.test(
  'At most 128 KiB of a long answer are read between two turns of the event loop, and all of it arrives',
  async t => {
    const sender = new Worker(SENDER, { eval: true })
    t.teardown(() => sender.terminate())
    const [port] = await once(sender, 'message')
    let [bytes, most, sinceTurn, isDone] = [0, 0, 0, false]
    const turn = () => {
      sinceTurn = 0
      if (!isDone) setImmediate(turn)
    }
    setImmediate(turn)
    const socket = connect(port, '127.0.0.1')
    readInChunks(socket)
    socket.on('data', piece => {
      bytes += piece.length
      sinceTurn += piece.length
      most = Math.max(most, sinceTurn)
      // rows take time as well, in which more data arrives
      const untilMs = performance.now() + 1
      while (performance.now() < untilMs);
    })
    await once(socket, 'end')
    isDone = true
    t.equal(bytes, BYTES)
    t.ok(most <= 131_072, `${most} bytes`)
  },
)

t.test('The same holds for an answer in chunks of 16 KiB, as with TLS', async t => {
  let left = 256
  const stream = new Duplex({
    read() {
      this.push(left-- > 0 ? Buffer.alloc(16_384) : null)
    },
  })
  let [bytes, most, sinceTurn] = [0, 0, 0]
  readInChunks(stream)
  stream.on('data', piece => {
    if (sinceTurn === 0) setImmediate(() => (sinceTurn = 0))
    bytes += piece.length
    sinceTurn += piece.length
    most = Math.max(most, sinceTurn)
  })
  await once(stream, 'end')
  t.equal(bytes, 256 * 16_384)
  t.ok(most <= 131_072, `${most} bytes`)
})
