import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fastify } from 'fastify'
import t from 'tap'
import type { App } from '../../control-plane/foundation/web/server/app.ts'
import { installRoutes } from '../../control-plane/monitoring/fleet/probes/installation/install-routes.ts'
import { waitFor } from '../support/wait.ts'

const MIB = 1024 * 1024
/** More than the buffers of a connection take. */
const BUFFERS_BYTES = 32 * MIB
const FILE_BYTES = 256 * MIB
const PATH = '/install/probe/picket-probe-linux-x64'

const folder = mkdtempSync(join(tmpdir(), 'picket-downloads-'))
t.teardown(() => rmSync(folder, { recursive: true }))
writeFileSync(join(folder, 'picket-probe-linux-x64'), '')
truncateSync(join(folder, 'picket-probe-linux-x64'), FILE_BYTES)

/** A server whose checks of downloads run when `check` is called. */
async function startServer(maxChecks: number) {
  const waiting = new Set<() => void>()
  const timer = (_ms: number, work: () => void) => {
    waiting.add(work)
    return () => void waiting.delete(work)
  }
  const app = fastify({ forceCloseConnections: true })
  installRoutes(app as unknown as App, { folder, isOwnHost: () => true, limits: { timer, maxChecks } })
  await app.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(() => app.close())
  const { port } = app.server.address() as AddressInfo
  return {
    port,
    download: () => fetch(`http://127.0.0.1:${port}${PATH}`),
    running: () => waiting.size,
    check() {
      for (const work of [...waiting]) {
        waiting.delete(work)
        work()
      }
    },
  }
}

/** Requests the file and reads nothing of it. */
function requestUnread(port: number): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  socket.pause()
  socket.write(`GET ${PATH} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  t.teardown(() => socket.destroy())
  return socket
}

t.test('Clients that read nothing are disconnected, so that others can download', async t => {
  const { port, download, running, check } = await startServer(60)
  const sockets = Array.from({ length: 8 }, () => requestUnread(port))
  await waitFor(() => running() === 8, { label: 'eight downloads' })
  t.notOk((await download()).ok, 'a ninth one is refused')
  // the first checks count what the buffers of the connections took
  await waitFor(
    () => {
      check()
      return running() === 0
    },
    { label: 'the end of these downloads' },
  )
  // their files are closed a little later
  const response = await waitFor(
    async () => {
      const answer = await download()
      if (answer.ok) return answer
      t.equal(answer.status, 429)
      return void (await answer.arrayBuffer())
    },
    { label: 'a download that is not refused' },
  )
  t.equal((await response.arrayBuffer()).byteLength, FILE_BYTES, 'a client that reads gets the whole file')
  await waitFor(() => running() === 0, { label: 'the end of its checks' })
  const closed = sockets.map(socket => new Promise(resolve => socket.once('close', resolve).resume()))
  await Promise.all(closed)
  t.ok(
    sockets.every(({ bytesRead }) => bytesRead < FILE_BYTES),
    'none of the others got it',
  )
})

t.test('A download ends after the last check, however fast its client reads', async t => {
  const maxChecks = 3
  const { port, running, check } = await startServer(maxChecks)
  const socket = requestUnread(port)
  await waitFor(() => running() === 1, { label: 'a download' })
  let checks = 0
  socket.on('data', () => {
    if (checks === maxChecks || socket.bytesRead < (checks + 1) * BUFFERS_BYTES) return
    checks++
    check()
  })
  await new Promise(resolve => socket.once('close', resolve).resume())
  t.equal(checks, maxChecks)
  t.ok(socket.bytesRead < FILE_BYTES, 'it did not get the whole file')
})
